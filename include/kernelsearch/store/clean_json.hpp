// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace kernelsearch {

/// The JSON text with every character that clean_text() would replace as its escape (`\u202e`): it says the
/// same to a program, and commands no terminal. Line ends between values stay. The text is valid UTF-8.
[[nodiscard]] std::string clean_json(std::string_view text);

}  // namespace kernelsearch
