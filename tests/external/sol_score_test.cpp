// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "external/sol_score.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "support/approx.hpp"

using namespace kernelsearch;
using namespace kernelsearch::external;
using kernelsearch::test::approx;

TEST_CASE("sol_score: 1 at the bound, half at the baseline, as SOL-ExecBench computes it") {
  CHECK(sol_score(1, 3, 1) == 1);
  CHECK(sol_score(3, 3, 1) == 0.5);
  CHECK(sol_score(5, 3, 1) == approx(1.0 / 3));
  CHECK(sol_score(0.5, 3, 1) == 1);
  CHECK(sol_score(2, 1, 1) == 0);
  CHECK(sol_score(1, 1, 1) == 1);
}

TEST_CASE("speed_of_light: what is moved or what is computed, and nothing where a rate is unknown") {
  DevicePeaks peaks;
  CHECK_FALSE(speed_of_light({100, 0, "f32"}, peaks, false));
  peaks.levels = {{"L2", 1000, 10.0}, {"memory", std::numeric_limits<double>::infinity(), 2.0}};
  CHECK(speed_of_light({100, 0, "f32"}, peaks, false) == 10.0);
  CHECK(speed_of_light({100, 0, "f32"}, peaks, true) == 50.0);
  CHECK(speed_of_light({2000, 0, "f32"}, peaks, false) == 1000.0);
  CHECK_FALSE(speed_of_light({0, 10, "f32"}, peaks, false));
  CHECK_FALSE(speed_of_light({100, 10, "f32"}, peaks, false));
  peaks.f32 = 0.5;
  CHECK(speed_of_light({100, 10, "f32"}, peaks, false) == 20.0);
  CHECK(speed_of_light({100, 1, "f32"}, peaks, false) == 10.0);
  CHECK(speed_of_light({100, 10, "bf16"}, peaks, false) == 20.0);
  CHECK(speed_of_light({100, 10, "f64"}, peaks, false) == 20.0);  // better a lower peak than none
  peaks.f16 = 0.25;
  peaks.f64 = 0.125;
  CHECK(speed_of_light({100, 10, "f8e4m3"}, peaks, false) == 40.0);
  CHECK(speed_of_light({100, 10, "f64"}, peaks, false) == 80.0);
}

TEST_CASE("mean_sol_score: over the shapes that were paired") {
  Measurement measured;
  for (const char* name : {"one", "two", "three"}) {
    ShapeMeasurement shape;
    shape.shape = name;
    shape.median = 2;
    shape.speedup.emplace();
    shape.speedup->ratio = 1;
    shape.speedup->pairs = name == std::string("three") ? 0 : 4;
    measured.shapes.push_back(shape);
  }
  measured.shapes[1].speedup->ratio = 2;  // 1 / (1 + 1 / 3)
  CHECK(mean_sol_score(measured, {{"one", 1}, {"two", 1}, {"three", 1}}) == approx((0.5 + 0.75) / 2));
  CHECK(mean_sol_score(measured, {{"two", 1}}) == approx(0.75));
  CHECK_FALSE(mean_sol_score(measured, {}));
}
