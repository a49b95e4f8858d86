// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/measurement.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace kernelsearch;

TEST_CASE("Measurement: nothing measured is infinitely slow") {
  const Measurement nothing;
  CHECK(std::isinf(nothing.seconds));
  CHECK(nothing.seconds > 0);
  CHECK_FALSE(nothing.speedup.has_value());
  CHECK(nothing.shapes.empty());
  CHECK(ShapeMeasurement{}.weight == 1.0);
}

TEST_CASE("Measurement: the end of sampling has a name for each way") {
  CHECK(to_string(SamplingEnd::converged) == "converged");
  CHECK(to_string(SamplingEnd::budget) == "budget");
  CHECK(to_string(SamplingEnd::slower) == "slower");
  CHECK(to_string(SamplingEnd::recorded) == "recorded");
}

TEST_CASE("Interval: equal when both ends are") {
  CHECK(Interval{1, 2} == Interval{1, 2});
  CHECK_FALSE(Interval{1, 2} == Interval{1, 3});
  CHECK_FALSE(Interval{1, 2} == Interval{0, 2});
}
