// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/device_peaks.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("level_holding: the nearest level that is large enough") {
  DevicePeaks peaks;
  CHECK(level_holding(peaks, 0) == nullptr);
  peaks.levels = {{"L1", 100, 3e9}, {"L2", 1000, std::nullopt}};
  CHECK(level_holding(peaks, 100)->name == "L1");
  CHECK(level_holding(peaks, 101)->name == "L2");
  CHECK(level_holding(peaks, 1001) == nullptr);
  peaks.levels.push_back({.name = "memory", .bandwidth = 1e9});
  CHECK(level_holding(peaks, 1e18)->name == "memory");
  CHECK_FALSE(level_holding(peaks, 500)->bandwidth);
}
