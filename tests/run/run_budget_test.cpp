// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run_budget.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;

TEST_CASE("parse_budget: trials, times, both, all") {
  CHECK(parse_budget("200").trials == 200);
  CHECK(!parse_budget("200").seconds);
  CHECK(parse_budget("30s").seconds == 30);
  CHECK(parse_budget("1500ms").seconds == 1.5);
  CHECK(parse_budget("5m").seconds == 300);
  CHECK(parse_budget("2min").seconds == 120);
  CHECK(parse_budget("1.5h").seconds == 5400);
  const RunBudget both = parse_budget("10,30s");
  CHECK(both.trials == 10);
  CHECK(both.seconds == 30);
  CHECK(!parse_budget("all").trials);
  CHECK(!parse_budget("all").seconds);
  for (const char* wrong : {"", "much", "-1", "0", "1.5", "10x", "s", "10 s", ","})
    CHECK_THROWS_AS((void)parse_budget(wrong), ConfigError);
}

TEST_CASE("RunLimits: the first that is reached ends it") {
  RunLimits limits;
  RunProgress progress;
  progress.seconds = 100;
  progress.best = 1;
  progress.best_speedup = 3;
  progress.trials_since_gain = 7;
  CHECK(!limits.reached(progress));
  CHECK(limits.describe().empty());
  limits.seconds = 101;
  limits.speedup = 3.5;
  limits.no_gain = 8;
  CHECK(!limits.reached(progress));
  CHECK(limits.describe().find(" or ") != std::string::npos);
  for (int which = 0; which < 3; ++which) {
    RunLimits one = limits;
    if (which == 0) one.seconds = 100;
    if (which == 1) one.speedup = 3;
    if (which == 2) one.no_gain = 7;
    CHECK(one.reached(progress));
  }
}
