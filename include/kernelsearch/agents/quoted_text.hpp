// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kernelsearch/core/clean_text.hpp"

namespace kernelsearch {

/// The text, or where it is longer its beginning and its end with a line between that says how much was left
/// out. `limit` is in bytes, at least 100; characters are kept whole, and so are lines or sentences where
/// there are any.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t limit);

/// The text, cleaned and shortened, in a fence that is longer than any in it, so that nothing in it can end
/// the fence. `label` is what follows the opening fence, e.g. `cpp device`.
[[nodiscard]] std::string quoted(std::string_view text, std::string_view label, std::size_t limit);

/// A rough number of tokens: a third of the bytes, which for code is rather too many than too few.
[[nodiscard]] constexpr std::size_t estimated_tokens(std::string_view text) noexcept {
  return (text.size() + 2) / 3;
}

}  // namespace kernelsearch
