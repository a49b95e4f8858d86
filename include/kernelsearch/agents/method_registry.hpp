// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/policy/method.hpp"

namespace kernelsearch {

/// The methods of all files of data/methods and `user`/methods whose backends include `backend`, by axis and
/// priority (docs/formats/methods.md). A method of a user's file replaces ours of the same id; a user's file
/// of the name of one of ours replaces that file. ConfigError with file, line and place for what the format
/// does not allow, for ids and priorities that two methods have, and for coupled or exclusive ids that do not
/// exist or do not name the method in turn. An empty `backend`: every file, each backend checked by itself.
[[nodiscard]] std::vector<Method> read_methods(std::string_view backend,
                                               const std::filesystem::path& user = {});

/// Those of one file's text, as they stand; `file` is named in errors. What they couple with or exclude may
/// be in other files and is not checked.
[[nodiscard]] std::vector<Method> parse_methods(std::string_view text, const std::string& file);

}  // namespace kernelsearch
