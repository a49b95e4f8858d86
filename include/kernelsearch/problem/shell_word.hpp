// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace kernelsearch {

/// The text as one word of a shell, whatever is in it. Always in quotes: a bare `if` or `A=b` where a command
/// is expected would be no word.
[[nodiscard]] std::string shell_word(std::string_view text);

/// The same behind a command's name, as people read it: in quotes only where it needs them.
[[nodiscard]] std::string readable_word(std::string_view text);

}  // namespace kernelsearch
