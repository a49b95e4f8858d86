// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>

namespace kernelsearch::detail {

/// Makes `text` the content of `file`, whose folder exists. Who opens the file, now or while others replace
/// it too, finds the whole of an old text or the whole of a new one, also when the process dies at any
/// moment. An error leaves the file as it was, and nothing next to it. Nobody waits for the disk: a machine
/// that loses power may lose the new text, or leave an empty file.
[[nodiscard]] std::error_code replace_file(const std::filesystem::path& file, std::string_view text);

/// The same for a content that `write` writes to the file named to it, which exists and is empty; false, with
/// errno set, where it cannot.
[[nodiscard]] std::error_code replace_file(const std::filesystem::path& file,
                                           const std::function<bool(const std::filesystem::path&)>& write);

/// As the first, of a file that only its owner may read (0600): what models were asked and said, e.g.
[[nodiscard]] std::error_code replace_private_file(const std::filesystem::path& file, std::string_view text);

/// Makes an empty file that only its owner may read, where there is none.
[[nodiscard]] std::error_code create_private_file(const std::filesystem::path& file);

/// As std::filesystem::create_directories; the folders that it makes are their owner's alone (0700). Those
/// that are there stay as they are.
[[nodiscard]] std::error_code create_private_folders(const std::filesystem::path& folder);

}  // namespace kernelsearch::detail
