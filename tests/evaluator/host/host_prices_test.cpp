// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_prices.hpp"

#include <doctest/doctest.h>

#include "support.hpp"

using namespace kernelsearch;

namespace {

Problem with_reference(const std::string& body, const std::string& more = {}) {
  return parse_problem(
      R"({"schema": 1, "name": "counted", "function": "f",
      "kernel": {"device": {"text": "extern \"C\" void f(int n, const int* w, const float* x, float* y) {}"}},
      "arguments": [{"name": "n", "type": "i32"}, {"name": "w", "type": "i32", "size": "n"},
                    {"name": "x", "type": ")" +
          (more.empty() ? std::string("f32") : more) + R"(", "size": "n"},
                    {"name": "y", "type": "f32", "size": "n", "role": "out"}],
      "reference": {"source": {"text": "#include <cmath>\nvoid r(int n, const int* w, const real* x, real* y) {)" +
          body + R"(}"}, "function": "r"},
      "build": {"compiler": "g++", "flags": ["-O1"]}, "tunables": {},
      "shapes": [{"name": "ten", "n": 10}, {"name": "forty", "n": 40}]})",
      support::scratch());
}

}  // namespace

TEST_CASE("host_prices: each width costs something, and what was measured is kept") {
  const std::vector<VectorPrices> prices = host_prices(support::scratch() / "prices");
  int bits = 64;
  for (const VectorPrices& one : prices) {
    CHECK(one.bits == 2 * bits);
    bits = one.bits;
    for (const double price :
         {one.exponential, one.exponential_f64, one.division, one.division_f64, one.conversion}) {
      CHECK(price > 0);
      CHECK(price < 1e-6);
    }
  }
  CHECK(host_prices(support::scratch() / "prices") == prices);
}

TEST_CASE("count_reference: what a call of the reference does, by kinds") {
  const HostOptions host = support::quick();
  const Problem problem = with_reference(
      "real sum = 0; for (int i = 0; i < n; ++i) sum += std::exp(x[i]) * w[i];"
      " for (int i = 0; i < n; ++i) y[i] = x[i] < 2 ? std::sqrt(x[i] * x[i]) / sum : sum;");
  const auto ten = count_reference(problem, problem.shapes[0], host);
  REQUIRE(ten);
  CHECK(*ten ==
        CountedWork{.basic = 40, .divisions = 10, .roots = 10, .exponentials = 10, .conversions = 10});
  const auto forty = count_reference(problem, problem.shapes[1], host);
  REQUIRE(forty);
  CHECK(forty->exponentials == 40);
  Shape other = problem.shapes[0];
  other.name = "none";
  CHECK_FALSE(count_reference(problem, other, host));
  // a reference that is not written over `real` alone, one that takes too long, and elements of another size
  CHECK_FALSE(count_reference(with_reference("float a = x[0]; y[0] = a;"), problem.shapes[0], host));
  CHECK_FALSE(count_reference(with_reference("for (volatile int i = 0; i == 0;) y[0] = x[0];"),
                              problem.shapes[0], host, 0.5));
  CHECK_FALSE(count_reference(with_reference("y[0] = x[0];", "f16"), problem.shapes[0], host));
}

TEST_CASE("priced_seconds: arithmetic and exponentials share units, the longest of three counts") {
  const VectorPrices prices{256, 2, 4, 3, 6, 0.5};
  DevicePeaks peaks;
  CHECK_FALSE(priced_seconds({.basic = 1}, prices, peaks, false, 1));
  peaks.f32 = 10;
  peaks.f64 = 5;
  CHECK(priced_seconds({.basic = 20, .exponentials = 3}, prices, peaks, false, 1) == 8);
  CHECK(priced_seconds({.basic = 20, .exponentials = 3}, prices, peaks, true, 1) == 16);
  CHECK(priced_seconds({.basic = 20, .divisions = 2, .roots = 1}, prices, peaks, false, 1) == 9);
  CHECK(priced_seconds({.basic = 20, .divisions = 2, .roots = 1}, prices, peaks, true, 1) == 18);
  CHECK(priced_seconds({.basic = 20, .exponentials = 1, .conversions = 40}, prices, peaks, false, 2) == 10);
  CHECK_FALSE(priced_seconds({.basic = 20}, {}, peaks, false, 1));
}
