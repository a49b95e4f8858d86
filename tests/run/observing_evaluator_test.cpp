// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The observing evaluator itself needs the sandbox and is tested by the command (tests/apps/skill_test.cpp).
#include "kernelsearch/run/observing_evaluator.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;

TEST_CASE("make_observing_evaluator: a problem that cannot be judged here is refused like by any other") {
  Problem problem;
  problem.name = "none";
  problem.function = "none";
  problem.build.compiler = "no-such-compiler";
  MeasurementOptions options;
  options.core = 1 << 20;  // there is no such core
  CHECK_THROWS_AS((void)make_observing_evaluator(problem, options), ConfigError);
}
