// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/time_judgement.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "support/approx.hpp"

using kernelsearch::Rng;
using kernelsearch::detail::lone_seconds;
using kernelsearch::detail::Pattern;
using kernelsearch::detail::pattern_of;
using kernelsearch::test::approx;

namespace {

/// Batches of 1 with some scatter, `slow` times as long where `is_slow` says so.
template <class IsSlow>
std::vector<double> batch_times(std::uint64_t seed, double slow, IsSlow&& is_slow) {
  Rng rng(seed);
  std::vector<double> all;
  for (int i = 0; i < 200; ++i) all.push_back((is_slow(i) ? slow : 1.0) * (1 + 0.05 * rng.uniform()));
  return all;
}

}  // namespace

TEST_CASE("times of two processes that follow what they are shown are no accusation") {
  const auto by_contents = [](int i) { return i * 7 % 10 < 3; };
  CHECK(pattern_of(batch_times(1, 8, by_contents), batch_times(2, 8, by_contents)) == Pattern::shared);
  const auto each_50th = [](int i) { return i % 50 == 49; };
  CHECK(pattern_of(batch_times(1, 100, each_50th), batch_times(2, 100, each_50th)) == Pattern::shared);
  // Nearly half of them: a little noise, and the median would be a slow one.
  const auto half = [](int i) { return i % 2 == 0 && i != 0; };
  CHECK(pattern_of(batch_times(1, 8, half), batch_times(2, 8, half)) == Pattern::shared);
  // One batch that the machine held up changes nothing.
  auto held_up = batch_times(2, 8, by_contents);
  held_up[11] = 1000;
  CHECK(pattern_of(batch_times(1, 8, by_contents), held_up) == Pattern::shared);
}

TEST_CASE("times that differ where what they are shown does not are the kernel's own") {
  Rng one(3), other(4);
  const auto by_chance = [](Rng& rng) { return [&rng](int) { return rng.chance(0.42); }; };
  CHECK(pattern_of(batch_times(1, 8, by_chance(one)), batch_times(2, 8, by_chance(other))) == Pattern::own);
  const auto never = [](int) { return false; };
  CHECK(pattern_of(batch_times(1, 8, by_chance(one)), batch_times(2, 8, never)) == Pattern::own);
  CHECK(pattern_of(batch_times(1, 8, never), batch_times(2, 8, by_chance(one))) == Pattern::own);
}

TEST_CASE("a lone call is what a batch of one takes more than an empty one, whatever the pace of stops") {
  // What stopping and letting go took on a machine with two cores: 5 us or 8, for many times in a row.
  const auto stops = [](double share_of_slow, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<double> all(256);
    bool slow = false;
    for (double& each : all) {
      if (rng.chance(0.2)) slow = rng.chance(share_of_slow);
      each = (slow ? 8e-6 : 5e-6) * (1 + 0.01 * rng.uniform());
    }
    return all;
  };
  const auto with = [](std::vector<double> batches, double call) {
    for (double& each : batches) each += call;
    return batches;
  };
  for (const double call : {0.2e-6, 3e-6})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      // Mostly slow in calls and mostly fast when empty, and the other way round.
      const double above = lone_seconds(with(stops(0.6, seed), call), stops(0.2, seed + 100));
      CHECK(above == approx(call).epsilon(0.5));
      const double below = lone_seconds(with(stops(0.2, seed), call), stops(0.6, seed + 100));
      CHECK(below == approx(call).epsilon(0.5));
    }
  // Never nothing: what was charged was at least looked at.
  CHECK(lone_seconds(std::vector<double>(8, 5e-6), std::vector<double>(8, 8e-6)) > 0);
}

TEST_CASE("even times are even") {
  const auto never = [](int) { return false; };
  CHECK(pattern_of(batch_times(1, 8, never), batch_times(2, 8, never)) == Pattern::even);
}

TEST_CASE("what cannot be told from the machine's load is judged once more, and names the load") {
  const auto fault = kernelsearch::detail::not_distinguishable("odd times", 0.3);
  CHECK(fault.may_be_load);
  CHECK(fault.verdict == kernelsearch::Verdict::timed_out);
  CHECK(fault.reason.find("others had up to 30 %") != std::string::npos);
  CHECK_FALSE(kernelsearch::detail::Fault{kernelsearch::Verdict::cheated, "odd times"}.may_be_load);
}
