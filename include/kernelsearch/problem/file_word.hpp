// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace kernelsearch {

/// The text as the name of one file or folder, whatever is in it: letters, digits, `_`, `-`, `+` and dots
/// stay, every other byte and a leading dot or `-` become `_`, and after 100 bytes it ends. Never empty, one
/// dot or
/// two. For a terminal there is clean_text(), for a shell shell_word().
[[nodiscard]] std::string file_word(std::string_view text);

}  // namespace kernelsearch
