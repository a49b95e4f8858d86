// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kernelsearch {

/// What a tool of NVIDIA's Compute Sanitizer reported of one run.
struct SanitizerReport {
  bool complete = false;     ///< the summary was reached: without it nothing is known
  std::uint64_t errors = 0;  ///< as the summary counts them; warnings of racecheck do not count
  std::string first;         ///< the first error with all that was said of it, on one line; empty: none
  std::string kernel;        ///< in which it happened
  std::string address;       ///< that was accessed, hexadecimal; empty where it is not said
};

/// Reads the log of memcheck, racecheck, initcheck or synccheck. Lines that are not the tool's are passed
/// over.
[[nodiscard]] SanitizerReport read_sanitizer_log(std::string_view text);

}  // namespace kernelsearch
