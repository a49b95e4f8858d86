// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/run_info.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("RunInfo: what is not said is empty, and the JSON members are objects") {
  const RunInfo info{.name = "n"};
  CHECK(info.options == "{}");
  CHECK(info.environment == "{}");
  CHECK(info.seed == 0);
  CHECK(number(RunId{7}) == 7);
  CHECK_FALSE(RunRow{}.finished.has_value());
}
