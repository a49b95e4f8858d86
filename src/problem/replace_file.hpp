// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>

namespace kernelsearch::detail {

/// What a replaced file survives.
enum class Durability : std::uint8_t {
  process,  ///< the death of the process at any moment
  machine,  ///< a stop of the machine too: waits until the file and its folder are on the disk
};

/// Makes `text` the content of `file`, whose folder exists. Who opens the file, now or while others replace
/// it too, finds the whole of an old text or the whole of a new one. An error leaves it as it was, and
/// nothing beside it; only where the folder cannot be flushed is it replaced all the same.
[[nodiscard]] std::error_code replace_file(const std::filesystem::path& file, std::string_view text,
                                           Durability durability = Durability::process);

/// The same for a content that `write` writes to the file named to it, which exists and is empty; false, with
/// errno set, where it cannot.
[[nodiscard]] std::error_code replace_file(const std::filesystem::path& file,
                                           const std::function<bool(const std::filesystem::path&)>& write,
                                           Durability durability = Durability::process);

}  // namespace kernelsearch::detail
