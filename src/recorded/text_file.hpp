// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

namespace kernelsearch::recorded {

/// The whole content of a file, unpacked where it is gzip. ConfigError where it cannot be read.
[[nodiscard]] std::string read_text(const std::filesystem::path& file);

}  // namespace kernelsearch::recorded
