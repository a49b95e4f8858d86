// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/model/axis_budget.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

namespace {
using Gap = std::optional<double>;
const Gap unknown;

RooflineGaps gaps(Gap compute, Gap memory, Gap latency) {
  return {{compute, memory, latency}};
}
AxisBudget slots(std::size_t compute, std::size_t memory, std::size_t latency) {
  return {{compute, memory, latency}};
}
bool takes_part(const Gap& gap, double smallest) {
  return gap && *gap >= smallest;
}
RooflineGaps random_gaps(Rng& rng) {
  RooflineGaps some;
  for (Gap& gap : some.values) {
    const std::uint64_t kind = rng.below(6);
    if (kind == 0) continue;
    gap = kind == 1 ? 0.1 * static_cast<double>(rng.below(11)) : rng.uniform();
  }
  return some;
}
}  // namespace

TEST_CASE("axis_budget: the example of the post (1.3) is one slot each, by its own rule and by ours") {
  const RooflineGaps post = gaps(0.92, 0.57, 0.61);
  // Shares 1.314, 0.814 and 0.871: the post prints 2, 0, 1, which no rounding of these gives.
  CHECK(axis_budget_as_published(post) == slots(1, 1, 1));
  CHECK(axis_budget(post) == slots(1, 1, 1));
}

TEST_CASE("axis_budget: what would give the post's 2, 0, 1") {
  CHECK(axis_budget(gaps(0.92, 0.09, 0.61)) == slots(2, 0, 1));
  CHECK(axis_budget_as_published(gaps(0.92, 0.09, 0.61)) == slots(2, 0, 1));
  CHECK(axis_budget(gaps(0.92, unknown, 0.61)) == slots(2, 0, 1));
}

TEST_CASE("axis_budget: a lone axis gets its cap, and nothing goes to an axis without a gap") {
  CHECK(axis_budget(gaps(0.8, 0.05, 0.02)) == slots(2, 0, 0));
  CHECK(axis_budget_as_published(gaps(0.8, 0.05, 0.02)) == slots(2, 1, 0));  // its flaw
  CHECK(axis_budget(gaps(unknown, 0.4, unknown)) == slots(0, 2, 0));
}

TEST_CASE("axis_budget: unknown is no gap") {
  CHECK(axis_budget({}) == slots(0, 0, 0));
  CHECK(axis_budget_as_published({}) == slots(1, 1, 1));  // its flaw: three gaps of one half
  CHECK(axis_budget(gaps(0.2, unknown, 0.12)) == slots(2, 0, 1));
  CHECK(axis_budget_as_published(gaps(0.2, unknown, 0.12)) == slots(1, 2, 0));  // most for what it never saw
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(axis_budget(gaps(nan, 0.3, std::numeric_limits<double>::infinity())) == slots(0, 2, 0));
}

TEST_CASE("axis_budget: near the peak there is nothing to spend") {
  CHECK(axis_budget(gaps(0.05, 0.09, 0.0)) == slots(0, 0, 0));
  CHECK(axis_budget_as_published(gaps(0.05, 0.09, 0.0)) == slots(1, 1, 1));
  CHECK(axis_budget_as_published(gaps(0.0, 0.0, 0.0)) == slots(1, 1, 1));
  CHECK(axis_budget(gaps(0.1, 0.0, 0.0)) == slots(2, 0, 0));  // `smallest` itself takes part
}

TEST_CASE("axis_budget: floor, then the largest remainder") {
  CHECK(axis_budget(gaps(0.7, 0.15, 0.15)) == slots(2, 1, 0));  // 2.1, 0.45, 0.45: the tie goes to memory
  CHECK(axis_budget(gaps(0.15, 0.15, 0.7)) == slots(0, 1, 2));  // 0.45, 0.45, 2.1
  CHECK(axis_budget(gaps(0.15, 0.7, 0.15)) == slots(0, 2, 1));  // latency before compute
  CHECK(axis_budget(gaps(0.5, 0.3, 0.2)) == slots(1, 1, 1));    // 1.5, 0.9, 0.6
  CHECK(axis_budget(gaps(0.3, 0.1, 0.2)) == slots(2, 0, 1));    // 1.5, 0.5, 1.0: the larger gap
  CHECK(axis_budget(gaps(0.1, 0.3, 0.2)) == slots(0, 2, 1));    // wherever it is
  CHECK(axis_budget(gaps(0.4, 0.4, 0.4)) == slots(1, 1, 1));
  CHECK(axis_budget(gaps(0.9, 0.1, 0.1)) == slots(2, 1, 0));      // 2.45, 0.27, 0.27
  CHECK(axis_budget(gaps(0.4, 0.4, unknown)) == slots(1, 2, 0));  // 1.5, 1.5
  CHECK(axis_budget(gaps(unknown, 0.4, 0.4)) == slots(0, 2, 1));
  CHECK(axis_budget(gaps(0.4, unknown, 0.4)) == slots(1, 0, 2));
}

TEST_CASE("axis_budget: of a kernel below its roof, the roof's side gets more, and at the roof neither") {
  const auto budget = [](double compute, double memory) {
    Features counted;
    counted.set("compute_utilisation", compute);
    counted.set("memory_utilisation", memory);
    counted.set("roof_utilisation", std::max(compute, memory));
    return axis_budget(roofline_gaps(counted));
  };
  CHECK(budget(1.6, 0.03) == slots(2, 1, 0));  // a plain product of matrices
  CHECK(budget(0.3, 7.0) == slots(1, 2, 0));   // a slow stream
  CHECK(budget(95, 2) == slots(0, 0, 0));
  CHECK(budget(2, 93) == slots(0, 0, 0));
}

TEST_CASE("axis_budget: totals and caps of the caller's") {
  CHECK(axis_budget(gaps(0.5, 0.3, 0.2), {.total = 10, .cap = 10}) == slots(5, 3, 2));
  CHECK(axis_budget(gaps(0.5, 0.3, 0.2), {.total = 10, .cap = 4}) == slots(4, 4, 2));
  CHECK(axis_budget(gaps(0.5, 0.3, 0.2), {.total = 10, .cap = 2}) == slots(2, 2, 2));
  CHECK(axis_budget(gaps(0.5, 0.3, 0.2), {.total = 0}) == slots(0, 0, 0));
  CHECK(axis_budget(gaps(0.5, 0.3, 0.2), {.cap = 0}) == slots(0, 0, 0));
  CHECK(axis_budget(gaps(0.05, 0.03, 0.02), {.smallest = 0.0}) == slots(1, 1, 1));
  CHECK(axis_budget(gaps(0.0, 0.0, 0.0), {.smallest = 0.0}) == slots(1, 1, 1));
}

TEST_CASE("axis_budget: totals, caps and order hold for all gaps") {
  Rng rng(11);
  for (int i = 0; i < 20000; ++i) {
    const RooflineGaps some = random_gaps(rng);
    AxisBudgetOptions options;
    if (i % 2 == 0) options = {.total = rng.below(8), .cap = rng.below(5), .smallest = 0.3 * rng.uniform()};
    const AxisBudget budget = axis_budget(some, options);
    std::size_t axes = 0;
    for (const Axis axis : all_axes) {
      CAPTURE(to_string(axis));
      if (takes_part(some[axis], options.smallest))
        ++axes;
      else
        REQUIRE(budget[axis] == 0);
      REQUIRE(budget[axis] <= options.cap);
    }
    REQUIRE(budget.total() == std::min(options.total, options.cap * axes));
    for (const Axis a : all_axes)
      for (const Axis b : all_axes)
        if (takes_part(some[a], options.smallest) && takes_part(some[b], options.smallest) &&
            *some[a] > *some[b])
          REQUIRE(budget[a] >= budget[b]);
  }
}

TEST_CASE("axis_budget: slots follow the gaps, not the names of the axes, where gaps differ") {
  Rng rng(13);
  for (int i = 0; i < 5000; ++i) {
    RooflineGaps some = random_gaps(rng);
    const auto& values = some.values;
    const auto same = [](const Gap& a, const Gap& b) { return a && b && std::abs(*a - *b) < 1e-6; };
    if (same(values[0], values[1]) || same(values[1], values[2]) || same(values[0], values[2])) continue;
    const AxisBudget budget = axis_budget(some);
    std::array<std::size_t, 3> order{0, 1, 2};
    do {
      RooflineGaps turned;
      for (std::size_t k = 0; k < 3; ++k) turned.values[k] = values[order[k]];
      const AxisBudget found = axis_budget(turned);
      for (std::size_t k = 0; k < 3; ++k) REQUIRE(found.slots[k] == budget.slots[order[k]]);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_CASE("axis_budget_as_published: three slots, two at most, whatever the gaps") {
  Rng rng(17);
  for (int i = 0; i < 5000; ++i) {
    const AxisBudget budget = axis_budget_as_published(random_gaps(rng));
    REQUIRE(budget.total() == 3);
    for (const Axis axis : all_axes) REQUIRE(budget[axis] <= 2);
  }
  // 1.5, 0.75, 0.75 rounds to 2, 1, 1: one too many, taken where it overshoots most
  CHECK(axis_budget_as_published(gaps(0.4, 0.2, 0.2)) == slots(1, 1, 1));
  // 2.96 is 3, of which one is beyond the cap: to the next gap, 0.59, though it has been rounded up already
  CHECK(axis_budget_as_published(gaps(1.0, 0.2, 0.15), {.total = 4}) == slots(2, 2, 0));
  // 2.5 rounds half to even
  CHECK(axis_budget_as_published(gaps(0.75, 0.15, 0.0)) == slots(2, 1, 0));
}
