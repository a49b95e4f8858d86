// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/sampling.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "kernelsearch/core/rng.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

std::vector<double> counting(std::size_t n) {
  std::vector<double> values;
  for (std::size_t i = n; i > 0; --i)
    values.push_back(static_cast<double>(i));  // descending: order must not matter
  return values;
}

}  // namespace

TEST_CASE("median: odd, even, one, none") {
  CHECK(median(std::vector<double>{3, 1, 2}) == 2);
  CHECK(median(std::vector<double>{4, 1, 2, 3}) == 2.5);
  CHECK(median(std::vector<double>{7}) == 7);
  CHECK(median(std::vector<double>{}) == 0);
}

TEST_CASE("median_interval: the order statistics of the textbook") {
  // Ranks with at least 95 % coverage: Conover, Practical Nonparametric Statistics, table A3.
  CHECK(median_interval(counting(5)) == Interval{1, 5});  // no pair reaches 95 %: the range
  CHECK(median_interval(counting(6)) == Interval{1, 6});
  CHECK(median_interval(counting(8)) == Interval{1, 8});
  CHECK(median_interval(counting(9)) == Interval{2, 8});
  CHECK(median_interval(counting(10)) == Interval{2, 9});
  CHECK(median_interval(counting(20)) == Interval{6, 15});
  CHECK(median_interval(counting(100)) == Interval{40, 61});
  CHECK(median_interval(std::vector<double>{}) == Interval{0, 0});
}

TEST_CASE("median_interval: exact and approximate ranks meet at 1000 samples") {
  const Interval exact = median_interval(counting(1000)), approximate = median_interval(counting(1001));
  CHECK(std::abs(exact.low - approximate.low) <= 2);
  CHECK(std::abs(exact.high - approximate.high) <= 3);
}

TEST_CASE("median_interval: covers the true median at least 95 times in 100") {
  Rng rng(11);
  for (const std::size_t n : {7u, 12u, 33u}) {
    int covered = 0;
    for (int round = 0; round < 2000; ++round) {
      std::vector<double> samples(n);
      for (double& sample : samples) sample = std::exp(rng.normal());  // skewed, median 1
      const Interval interval = median_interval(samples);
      covered += interval.low <= 1 && 1 <= interval.high;
    }
    CHECK(covered >= 1880);
  }
}

TEST_CASE("relative_spread: median absolute deviation over the median, deaf to an outlier") {
  CHECK(relative_spread(std::vector<double>{9, 10, 11}) == approx(0.1));
  CHECK(relative_spread(std::vector<double>{9, 10, 10, 11, 1000}) == approx(0.1));
  CHECK(relative_spread(std::vector<double>{5, 5, 5}) == 0);
  CHECK(relative_spread(std::vector<double>{}) == 0);
}

TEST_CASE("sampling_end: converged, out of budget, or not yet") {
  const SamplingOptions options{
      .precision = 0.01, .min_samples = 10, .max_samples = 50, .budget_seconds = 1.0};
  CHECK(sampling_end(std::vector<double>(10, 1.0), 0.1, options) == SamplingEnd::converged);
  CHECK(sampling_end(std::vector<double>(9, 1.0), 0.1, options) == std::nullopt);
  std::vector<double> noisy;
  for (int i = 0; i < 40; ++i) noisy.push_back(i % 2 == 0 ? 1.0 : 1.2);
  CHECK(sampling_end(noisy, 0.1, options) == std::nullopt);
  CHECK(sampling_end(noisy, 1.0, options) == SamplingEnd::budget);
  noisy.resize(50, 1.1);
  CHECK(sampling_end(noisy, 0.1, options) == SamplingEnd::budget);
  // half the interval's width counts: 0.98..1.02 around 1 is 2 %, not 4 %
  std::vector<double> two_percent{0.98, 0.98, 0.98, 0.98, 0.98, 1.0, 1.02, 1.02, 1.02, 1.02, 1.02};
  CHECK(sampling_end(two_percent, 0.1, {.precision = 0.021, .min_samples = 10}) == SamplingEnd::converged);
  CHECK(sampling_end(two_percent, 0.1, {.precision = 0.019, .min_samples = 10}) == std::nullopt);
}

TEST_CASE("summarize and combine_shapes: the sum of weighted medians, or their geometric mean") {
  Measurement m;
  m.shapes.resize(3);
  m.shapes[0].samples = {1, 2, 3};
  m.shapes[0].weight = 2;
  m.shapes[1].samples = {8, 8, 8};
  m.shapes[2].samples = {100};
  m.shapes[2].weight = 0;  // checked, not timed
  for (auto& shape : m.shapes) summarize(shape);
  CHECK(m.shapes[0].median == 2);
  CHECK(m.shapes[0].interval == Interval{1, 3});
  CHECK(m.shapes[0].spread == approx(0.5));
  combine_shapes(m, Combine::weighted_sum);
  CHECK(m.seconds == 12);
  CHECK(m.interval == Interval{10, 14});
  CHECK(m.spread == approx(1.0 / 3));
  combine_shapes(m, Combine::geometric_mean);
  CHECK(m.seconds == approx(std::cbrt(2.0 * 2 * 8)));
}

TEST_CASE("combine_shapes: nothing measured leaves the measurement infinite") {
  Measurement m;
  combine_shapes(m, Combine::weighted_sum);
  CHECK(std::isinf(m.seconds));
}

TEST_CASE("paired_speedup: a drift that slows both sides alike changes nothing") {
  PairedTimes pairs;
  for (int i = 0; i < 12; ++i) {
    const double pace = 1 + i;  // the machine gets twelve times slower
    pairs.reference.push_back(3 * pace);
    pairs.candidate.push_back(pace);
  }
  const Speedup speedup = paired_speedup(pairs);
  CHECK(speedup.ratio == approx(3));
  CHECK(speedup.interval.low == approx(3));
  CHECK(speedup.interval.high == approx(3));
  CHECK(speedup.pairs == 12);
}

TEST_CASE("paired_speedup: few pairs give their whole range, none give nothing") {
  CHECK(paired_speedup({1.0, {2, 3, 4}, {1, 1, 1}}).interval == Interval{2, 4});
  CHECK(paired_speedup({1.0, {2, 3, 4}, {1, 1, 1}}).ratio == 3);
  CHECK(paired_speedup({}).pairs == 0);
  CHECK(paired_speedup({1.0, {2, 3}, {0, 1}}).pairs == 1);  // no division by nothing
}

TEST_CASE("paired_speedup: the interval holds the true ratio and shrinks with more pairs") {
  Rng rng(5);
  int covered = 0;
  double few = 0, many = 0;
  for (int round = 0; round < 100; ++round) {
    PairedTimes pairs;
    for (int i = 0; i < 40; ++i) {
      pairs.reference.push_back(2 * (1 + 0.1 * rng.uniform()));
      pairs.candidate.push_back(1 + 0.1 * rng.uniform());
    }
    const Speedup all = paired_speedup(pairs);
    covered += all.interval.low <= 2 && 2 <= all.interval.high;
    many += all.interval.high - all.interval.low;
    pairs.reference.resize(10);
    const Speedup some = paired_speedup(pairs);
    few += some.interval.high - some.interval.low;
  }
  CHECK(covered >= 88);
  CHECK(many < few);
}

TEST_CASE("paired_speedup: what differs between processes is in the interval") {
  // every process has a ratio of its own around 2, to which its pairs hold closely
  Rng rng(6);
  int covered = 0, covered_as_one = 0;
  for (int repeat = 0; repeat < 100; ++repeat) {
    PairedTimes pairs;
    for (int round = 0; round < 5; ++round) {
      pairs.rounds.push_back(pairs.reference.size());
      const double here = 2 * (1 + 0.05 * (rng.uniform() - 0.5));
      for (int i = 0; i < 10; ++i) {
        pairs.reference.push_back(here * (1 + 0.002 * (rng.uniform() - 0.5)));
        pairs.candidate.push_back(1);
      }
    }
    const auto holds = [](const Speedup& s) { return s.interval.low <= 2 && 2 <= s.interval.high; };
    covered += holds(paired_speedup(pairs)) ? 1 : 0;
    pairs.rounds.clear();
    covered_as_one += holds(paired_speedup(pairs)) ? 1 : 0;
  }
  CHECK(covered >= 92);  // 81 without what few rounds hide
  CHECK(covered_as_one < covered - 20);
  // rounds without pairs are none, and where all rounds agree they change nothing
  const PairedTimes same{1.0, {3, 3, 3, 3, 3, 3}, {1, 1, 1, 1, 1, 1}, {0, 3, 6}};
  CHECK(paired_speedup(same).interval == Interval{3, 3});
  CHECK(paired_speedup({1.0, {3, 3, 3, 3, 3, 3, 9}, {1, 1, 1, 1, 1, 1, 0}, {0, 0, 6}}).interval ==
        Interval{3, 3});
}

TEST_CASE("combined_speedup: shapes count by the reference's time, or alike in a geometric mean") {
  // 10 s halved and 1 s made ten times slower
  const std::vector<PairedTimes> shapes{{1.0, {10, 10, 10}, {5, 5, 5}}, {1.0, {1, 1, 1}, {10, 10, 10}}};
  CHECK(combined_speedup(shapes, Combine::weighted_sum).ratio == approx(11.0 / 15));
  CHECK(combined_speedup(shapes, Combine::geometric_mean).ratio == approx(std::sqrt(2 * 0.1)));
  CHECK(combined_speedup(shapes, Combine::weighted_sum).pairs == 6);
  auto unweighted = shapes;
  unweighted[1].weight = 0;
  CHECK(combined_speedup(unweighted, Combine::weighted_sum).ratio == approx(2));
}
