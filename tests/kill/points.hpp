// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "support/thorough.hpp"

namespace kill_test {

inline std::uint64_t number_from(const char* variable, std::uint64_t standard) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? standard : std::strtoull(given, nullptr, 10);
}

/// How many times a test of this room kills in all: KERNELSEARCH_TEST_KILLS, else what fits into CI.
inline std::uint64_t kills(std::uint64_t standard) {
  if (!is_thorough()) standard = (standard + 1) / 2;
  return std::max<std::uint64_t>(number_from("KERNELSEARCH_TEST_KILLS", standard), 1);
}

/// Where and when: KERNELSEARCH_TEST_SEED, else always the same places.
inline std::uint64_t seed() {
  return number_from("KERNELSEARCH_TEST_SEED", 1);
}

/// Adds a row of a table to the file KERNELSEARCH_TEST_KILLS_TABLE, where there is one.
inline void add_row(const std::string& row) {
  if (const char* const file = std::getenv("KERNELSEARCH_TEST_KILLS_TABLE"))
    std::ofstream(file, std::ios::app) << row << '\n';
}

}  // namespace kill_test
