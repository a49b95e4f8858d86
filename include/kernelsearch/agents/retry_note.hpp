// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kernelsearch {

/// How a reply begins the line which says what is done differently than before.
inline constexpr std::string_view retry_form = "THIS TIME";

/// The sentence of a line that begins `THIS TIME:`, on one line and clean, at most 400 characters; nothing
/// where there is no such line outside of code, or nothing in it that could be a sentence (fewer than three
/// words). CUDA optimisation skill V2, post 4.4: who tries a method again says why it may succeed now.
[[nodiscard]] std::optional<std::string> read_retry_note(std::string_view reply);

}  // namespace kernelsearch
