// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/counted_roofline.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "kernelsearch/problem/read_problem.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

/// y[i] = x[i] in f32: 8 n bytes of arrays, `operations` and `bytes` as given.
Problem problem(const std::string& counts, const std::string& type = "f32") {
  return parse_problem(R"({"schema": 1, "name": "p", "backend": "host", "function": "f",
    "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": ")" +
                           type + R"(", "size": "n"},
                  {"name": "y", "type": ")" +
                           type + R"(", "size": "n", "role": "out"}],
    "kernel": {"device": {"text": "extern \"C\" void f(int n, const float* x, float* y) {}"}},
    "shapes": [{"name": "a", "n": 1000}, {"name": "b", "n": 3000}, {"name": "c", "n": 10, "weight": 0}],
    "reference": {"source": {"text": "void r(int n, const real* x, real* y) {}"}, "function": "r"})" +
                           counts + "}",
                       ".");
}

const std::string both_counts = R"(, "operations": "2*n", "bytes": "8*n")";

ShapeMeasurement measured(const std::string& shape, double median, double weight = 1) {
  ShapeMeasurement one;
  one.shape = shape;
  one.median = median;
  one.weight = weight;
  return one;
}

Measurement measurement(std::vector<ShapeMeasurement> shapes) {
  Measurement all;
  all.shapes = std::move(shapes);
  return all;
}

/// 8 kB fit L1, 24 kB only L2.
const DevicePeaks peaks{
    "d",
    "given",
    {},
    8e9,
    4e9,
    {{"L1", 16e3, 100e9}, {"L2", 32e3, 50e9}, {"memory", std::numeric_limits<double>::infinity(), 10e9}}};

double value(const Features& features, const char* name) {
  const auto found = features.find(name);
  REQUIRE_MESSAGE(found, name);
  return *found;
}

}  // namespace

TEST_CASE("counted_features: rates, intensity and shares of the peaks of one shape") {
  const Features found = counted_features(problem(both_counts), measurement({measured("a", 1e-6)}), peaks);
  CHECK(value(found, "operations_per_second") == approx(2e9));
  CHECK(value(found, "bytes_per_second") == approx(8e9));
  CHECK(value(found, "intensity") == approx(0.25));
  CHECK(value(found, "compute_utilisation") == approx(25));
  CHECK(value(found, "memory_utilisation") == approx(8));
  CHECK(value(found, "roof_utilisation") == approx(25));  // beyond the ridge of L1 at 0.08
  CHECK(value(found, "memory_level") == 1);
  CHECK_FALSE(found.find("dram_utilisation"));  // it never left the cache
  CHECK_FALSE(found.find("stall_backend"));
}

TEST_CASE("counted_features: shapes count by weight, each against the level that holds it") {
  const Features found = counted_features(
      problem(both_counts), measurement({measured("a", 1e-6), measured("b", 2e-6, 3), measured("c", 1, 0)}),
      peaks);
  // work 2000 + 3 * 6000, traffic 8000 + 3 * 24000, seconds 1e-6 + 3 * 2e-6
  CHECK(value(found, "operations_per_second") == approx(20000 / 7e-6));
  CHECK(value(found, "bytes_per_second") == approx(80000 / 7e-6));
  CHECK(value(found, "compute_utilisation") == approx(100 * 20000 / 8e9 / 7e-6));
  CHECK(value(found, "memory_utilisation") == approx(100 * (8000 / 100e9 + 72000 / 50e9) / 7e-6));
  CHECK(value(found, "memory_level") == 2);
}

TEST_CASE("counted_features: main memory where nothing nearer holds the arrays, or caches are cold") {
  DevicePeaks small = peaks;
  small.levels[0].bytes = small.levels[1].bytes = 100;
  const Measurement one = measurement({measured("a", 1e-6)});
  Features found = counted_features(problem(both_counts), one, small);
  CHECK(value(found, "dram_utilisation") == approx(80));
  CHECK(value(found, "memory_utilisation") == approx(80));
  CHECK(value(found, "roof_utilisation") == approx(80));
  CHECK(value(found, "memory_level") == 3);
  found = counted_features(problem(both_counts), one, peaks, {.cold = true});
  CHECK(value(found, "dram_utilisation") == approx(80));
  // one shape in a cache, one in memory: no share of main memory for the whole
  small.levels[0].bytes = 16e3;
  found =
      counted_features(problem(both_counts), measurement({measured("a", 1e-6), measured("b", 3e-6)}), small);
  CHECK_FALSE(found.find("dram_utilisation"));
  // the first shape is limited by computing, the second by memory
  CHECK(value(found, "roof_utilisation") == approx(100 * (2000 / 8e9 + 24000 / 10e9) / 4e-6));
  CHECK(value(found, "memory_utilisation") == approx(100 * (8000 / 100e9 + 24000 / 10e9) / 4e-6));
}

TEST_CASE("counted_features: calls that share a sample must fit the cache together") {
  const Measurement one = measurement({measured("a", 1e-6)});
  CHECK(value(counted_features(problem(both_counts), one, peaks, {.sample_seconds = 1.9e-6}),
              "memory_level") == 1);
  CHECK(value(counted_features(problem(both_counts), one, peaks, {.sample_seconds = 2.1e-6}),
              "memory_level") == 2);
  CHECK(value(counted_features(problem(both_counts), one, peaks, {.sample_seconds = 9.0e-6}),
              "memory_level") == 3);
}

TEST_CASE("counted_features: what is not counted or has no peak is absent") {
  const Measurement one = measurement({measured("a", 1e-6)});
  CHECK(counted_features(problem(""), one, peaks).empty());
  Features found = counted_features(problem(R"(, "operations": "2*n")"), one, peaks);
  CHECK(found.find("compute_utilisation"));
  CHECK_FALSE(found.find("roof_utilisation"));
  CHECK_FALSE(found.find("intensity"));
  CHECK_FALSE(found.find("memory_utilisation"));
  found = counted_features(problem(R"(, "bytes": "8*n")"), one, peaks);
  CHECK(found.find("memory_utilisation"));
  CHECK_FALSE(found.find("compute_utilisation"));
  found = counted_features(problem(both_counts), one, {});
  CHECK(found.find("intensity"));
  CHECK_FALSE(found.find("compute_utilisation"));
  CHECK_FALSE(found.find("memory_utilisation"));
  DevicePeaks unknown_cache = peaks;
  unknown_cache.levels[0].bandwidth.reset();
  CHECK_FALSE(counted_features(problem(both_counts), one, unknown_cache).find("memory_utilisation"));
  CHECK(counted_features(problem(both_counts), {}, peaks).empty());
  CHECK(counted_features(problem(both_counts), measurement({measured("of another problem", 1e-6)}), peaks)
            .empty());
  CHECK(counted_features(problem(both_counts),
                         measurement({measured("a", std::numeric_limits<double>::infinity())}), peaks)
            .empty());
  CHECK_FALSE(
      counted_features(problem(R"(, "operations": "0*n")"), one, peaks).find("operations_per_second"));
}

TEST_CASE("counted_peak: of the widest floating input") {
  DevicePeaks all = peaks;
  CHECK(counted_peak(problem(both_counts), all) == 8e9);
  CHECK(counted_peak(problem(both_counts, "f64"), all) == 4e9);
  CHECK(counted_peak(problem(both_counts, "f16"), all) == 8e9);
  all.f16 = 64e9;
  CHECK(counted_peak(problem(both_counts, "f16"), all) == 64e9);
  CHECK_FALSE(counted_peak(problem(both_counts, "i32"), all));
  Problem mixed = problem(both_counts, "f16");
  mixed.arguments[2].type = ElementType::f32;  // f16 in, f32 out: what tensor cores do
  CHECK(counted_peak(mixed, all) == 64e9);
  mixed.arguments[2].role = Role::inout;  // what is added to is read as well
  CHECK(counted_peak(mixed, all) == 8e9);
}

TEST_CASE("CountedRoofline: adds to what is known and leaves what a profiler saw") {
  const CountedRoofline step{problem(both_counts), peaks};
  Evaluation evaluation = Evaluation::succeeded(1e-6);
  evaluation.measurement.shapes = {measured("a", 1e-6)};
  Evaluation profiled = evaluation;
  step({}, evaluation);
  CHECK(evaluation.features == counted_features(step.problem, evaluation.measurement, peaks));
  profiled.features.set("memory_utilisation", 55);
  profiled.features.set("compute_utilisation", 44);
  CountedRoofline{problem(both_counts), peaks, {.cold = true}}({}, profiled);
  CHECK(profiled.features.find("memory_utilisation") == 55.0);
  CHECK(profiled.features.find("compute_utilisation") == 44.0);
  CHECK_FALSE(profiled.features.find("dram_utilisation"));
  CHECK(profiled.features.find("intensity"));
}
