// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/write_problem.hpp"

/// Any text is read or refused with a ConfigError; what is read writes and reads back.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string written;
  try {
    written = kernelsearch::problem_json(kernelsearch::parse_problem(text, "/nonexistent"));
  } catch (const kernelsearch::ConfigError&) {
    return 0;
  }
  try {
    (void)kernelsearch::parse_problem(written, "/nonexistent");
  } catch (const kernelsearch::ConfigError&) {
    std::abort();
  }
  return 0;
}
