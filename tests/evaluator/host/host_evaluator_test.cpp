// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_evaluator.hpp"

#include <doctest/doctest.h>

#include "evaluator/host/support.hpp"

using namespace kernelsearch;

TEST_CASE("HostEvaluator: a right kernel is ok and measured") {
  const auto e = support::judge(R"(extern "C" void scale(int n, const float* x, float* y) {
    for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
  })");
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  REQUIRE(e.measurement.shapes.size() == 1);
  CHECK(e.measurement.shapes[0].samples.size() >= 6);
  CHECK(e.measurement.seconds > 0);
  MESSAGE(e.provenance << " " << e.phases.build << " " << e.phases.check << " " << e.phases.measure << " t=" << e.measurement.seconds);
}
