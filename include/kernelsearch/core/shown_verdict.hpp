// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string_view>

#include "kernelsearch/core/overrun.hpp"
#include "kernelsearch/core/verdict.hpp"

namespace kernelsearch {

/// The verdict as people and models are told it: a write outside of the arrays, which an honest kernel
/// without a mask does too, is `out_of_bounds` and no accusation. Stores and exports keep the verdict's own
/// name.
[[nodiscard]] constexpr std::string_view shown_verdict(Verdict verdict,
                                                       const std::optional<Overrun>& overrun) noexcept {
  return verdict == Verdict::cheated && overrun ? std::string_view("out_of_bounds") : to_string(verdict);
}

}  // namespace kernelsearch
