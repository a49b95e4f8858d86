// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <filesystem>

namespace support {

/// The folder `tests` of the source tree, or what `KERNELSEARCH_TEST_DATA` names: programs may run elsewhere.
[[nodiscard]] inline std::filesystem::path test_data() {
  const char* given = std::getenv("KERNELSEARCH_TEST_DATA");
  return given != nullptr ? std::filesystem::path(given)
                          : std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "tests";
}

}  // namespace support
