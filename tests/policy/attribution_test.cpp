// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/attribution.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

Outcome outcome(std::uint64_t id, std::vector<TrialId> parents, double seconds, Interval interval = {}) {
  Outcome made;
  made.id = TrialId{id};
  made.parents = std::move(parents);
  made.evaluation = Evaluation::succeeded(seconds);
  if (interval != Interval{}) made.evaluation.measurement.interval = interval;
  return made;
}

Outcome failed(Verdict verdict) {
  Outcome made = outcome(2, {TrialId{1}}, 1);
  made.evaluation = Evaluation::failed(verdict, "so it is");
  return made;
}

void set_pair(Outcome& of, double ratio, double low, double high) {
  of.evaluation.features.set("times_parent", ratio);
  of.evaluation.features.set("times_parent.low", low);
  of.evaluation.features.set("times_parent.high", high);
}

Attribution number(double effect, double low, double high) {
  return {.effect = effect, .interval = {low, high}, .known = true, .paired = true};
}

}  // namespace

TEST_CASE("attribution: pairs come before the measurements of two moments") {
  const Outcome champion = outcome(1, {TrialId{0}}, 2.14e-3);
  Outcome ablated = outcome(2, {TrialId{1}}, 2.5e-3);
  set_pair(ablated, 1.03, 1.027, 1.034);
  const Attribution paired = attribution_of(champion, ablated);
  CHECK(paired.known);
  CHECK(paired.paired);
  CHECK(!paired.essential);
  CHECK(paired.effect == approx(0.03));
  CHECK(paired.interval.low == approx(0.027));
  CHECK(paired.interval.high == approx(0.034));
}

TEST_CASE("attribution: pairs with another kernel, or without an interval, do not count") {
  const Outcome champion = outcome(1, {TrialId{0}}, 2.0, {1.9, 2.1});
  const Interval widest{2.4 / 2.1 - 1, 2.6 / 1.9 - 1};
  for (const std::vector<TrialId>& parents :
       {std::vector<TrialId>{TrialId{0}}, std::vector<TrialId>{TrialId{1}, TrialId{0}}}) {
    Outcome ablated = outcome(2, parents, 2.5, {2.4, 2.6});
    set_pair(ablated, 9, 8, 10);
    const Attribution apart = attribution_of(champion, ablated);
    CHECK(apart.known);
    CHECK(!apart.paired);
    CHECK(apart.effect == approx(0.25));
    CHECK(apart.interval.low == approx(widest.low));
    CHECK(apart.interval.high == approx(widest.high));
  }
  Outcome ablated = outcome(2, {TrialId{1}}, 2.5);
  ablated.evaluation.features.set("times_parent", 9);
  CHECK(attribution_of(champion, ablated).effect == approx(0.25));
}

TEST_CASE("attribution: the example of the published description") {
  const Outcome champion = outcome(1, {}, 2.14e-3);
  const auto effect = [&](double seconds) {
    return attribution_of(champion, outcome(2, {TrialId{1}}, seconds)).effect * 2.14e-3;
  };
  CHECK(effect(4.82e-3) == approx(2.68e-3));
  CHECK(effect(2.31e-3) == approx(0.17e-3));
  CHECK(effect(2.19e-3) == approx(0.05e-3));
  const auto kept = [&](double seconds) {
    return contributes(attribution_of(champion, outcome(2, {TrialId{1}}, seconds)), 0.03);
  };
  CHECK(kept(4.82e-3) == Contribution::yes);
  CHECK(kept(2.31e-3) == Contribution::yes);
  CHECK(kept(2.19e-3) == Contribution::no);  // 2.3 %: below a threshold of 3 %
}

TEST_CASE("attribution: what fails without the method needs it; what never ran says nothing") {
  const Outcome champion = outcome(1, {}, 1.0);
  for (const Verdict verdict :
       {Verdict::wrong_result, Verdict::crashed, Verdict::timed_out, Verdict::launch_failed}) {
    const Attribution essential = attribution_of(champion, failed(verdict));
    CHECK(essential.known);
    CHECK(essential.essential);
    CHECK(contributes(essential, 0.5) == Contribution::yes);
  }
  for (const Verdict verdict :
       {Verdict::not_generated, Verdict::rejected, Verdict::build_failed, Verdict::cheated}) {
    CHECK(!attribution_of(champion, failed(verdict)).known);
    CHECK(contributes(attribution_of(champion, failed(verdict)), 0.5) == Contribution::unknown);
  }
  CHECK(contributes({}, 0.005) == Contribution::unknown);
  CHECK(!attribution_of(failed(Verdict::wrong_result), champion).known);
  CHECK(!attribution_of(champion, outcome(2, {}, std::numeric_limits<double>::infinity())).known);
  CHECK(!attribution_of(outcome(1, {}, 0), champion).known);
}

TEST_CASE("contributes: three values") {
  CHECK(contributes(number(0.03, 0.026, 0.034), 0.005) == Contribution::yes);
  CHECK(contributes(number(0.03, -0.01, 0.07), 0.005) == Contribution::unknown);  // too coarse
  CHECK(contributes(number(0.0, -0.004, 0.004), 0.005) == Contribution::no);
  CHECK(contributes(number(0.004, 0.002, 0.006), 0.005) == Contribution::no);  // real, but not worth it
  CHECK(contributes(number(0.0, -0.05, 0.05), 0.005) == Contribution::unknown);
  CHECK(contributes(number(-0.2, -0.25, -0.15), 0.005) == Contribution::no);  // it does harm
  CHECK(to_string(Contribution::unknown) == "unknown");
}

TEST_CASE("noise threshold: from the interval of the median, else from the spread, never below the least") {
  Measurement measurement;
  CHECK(noise_threshold(measurement) == 0.005);  // nothing was measured
  measurement.seconds = 2;
  measurement.spread = 0.04;
  measurement.interval = {1.96, 2.04};
  CHECK(noise_threshold(measurement) == approx(0.02));
  CHECK(noise_threshold(measurement, 0.03) == 0.03);
  measurement.interval = {2, 2};
  CHECK(noise_threshold(measurement) == approx(0.04));
  measurement.spread = 0.001;
  CHECK(noise_threshold(measurement) == 0.005);
}

TEST_CASE("noise threshold: pairs bring their own noise") {
  Measurement bad_moment;
  bad_moment.seconds = 2;
  bad_moment.interval = {1.9, 2.1};
  const Attribution paired = number(0.03, 0.03, 0.03006);
  CHECK(noise_threshold(paired, bad_moment) == 0.005);
  CHECK(contributes(paired, noise_threshold(paired, bad_moment)) == Contribution::yes);
  Attribution apart = paired;
  apart.paired = false;
  CHECK(noise_threshold(apart, bad_moment) == approx(0.05));
}

TEST_CASE("interaction: of independent, overlapping and mutually replacing methods") {
  const Attribution a = number(0.1, 0.09, 0.11), b = number(0.2, 0.19, 0.21);
  const Attribution apart = interaction_of(a, b, number(0.32, 0.31, 0.33));
  CHECK(apart.known);
  CHECK(apart.paired);
  CHECK(apart.effect == approx(0).scale(1));
  CHECK(apart.interval.low < 0);
  CHECK(apart.interval.high > 0);
  // one method in two halves: without both it is as slow as without one
  CHECK(interaction_of(a, a, a).interval.high < 0);
  // either will do: only without both it is slow
  const Attribution none = number(0, -0.004, 0.004);
  const Attribution either = interaction_of(none, none, number(0.3, 0.29, 0.31));
  CHECK(either.effect == approx(0.3));
  CHECK(either.interval.low > 0.28);
  CHECK(!interaction_of(a, b, {}).known);
  CHECK(!interaction_of(a, {.known = true, .essential = true}, b).known);
}
