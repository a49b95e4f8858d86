// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/pairs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "judge/pairing_time.hpp"
#include "kernelsearch/core/rng.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail;
using kernelsearch::test::approx;

namespace {

using Trouble = std::string;

Problem shapes_of(std::vector<double> weights) {
  Problem problem;
  for (const double weight : weights) {
    Shape shape;
    shape.name = "s" + std::to_string(problem.shapes.size());
    shape.weight = weight;
    problem.shapes.push_back(shape);
  }
  return problem;
}

/// A side whose calls take `seconds` by a clock that drifts, as one that both sides share.
struct ScriptedSide {
  std::string* order;
  char name;
  double seconds;
  double* clock;
  Rng* rng;
  double scatter = 0.002;
  std::vector<double> planned{};  ///< seconds by which its batches were planned

  [[nodiscard]] double estimate(std::size_t) const { return seconds; }
  std::optional<Trouble> time_once(std::size_t, double about, double& taken) {
    planned.push_back(about);
    *order += name;
    *clock *= 1.001;
    taken = seconds * *clock * (1 + scatter * (rng->uniform() - 0.5));
    return std::nullopt;
  }
};

struct Scene {
  std::string order{};
  double clock = 1;
  Rng rng{3};
  ScriptedSide ours{&order, 'o', 1e-3, &clock, &rng}, theirs{&order, 't', 1.1e-3, &clock, &rng};

  std::optional<Trouble> take(Pairs& pairs) {
    return pairs.take_round<Trouble>(AlternatingTimer<Trouble, ScriptedSide, ScriptedSide>(ours, theirs));
  }
};

}  // namespace

TEST_CASE("Pairs: both sides take turns at being first, after a call of each to warm up") {
  const Problem problem = shapes_of({1});
  Scene scene;
  Pairs pairs(problem, {.min_pairs = 6, .max_pairs = 6});
  CHECK(!scene.take(pairs));
  CHECK(scene.order ==
        "to"
        "to"
        "ot"
        "to"
        "ot"
        "to"
        "ot");
  CHECK(!pairs.wants_round());
  CHECK(pairs.speedup().pairs == 6);
  CHECK(pairs.speedup().ratio == approx(1.1).epsilon(0.003));
}

TEST_CASE("Pairs: sides that take about as long are timed in the same batches") {
  const Problem problem = shapes_of({1});
  // As on a host: batches of 50 us at least, of whole calls, and each costs what 2 us of calls do.
  struct Batched : ScriptedSide {
    double seen = seconds;
    [[nodiscard]] double estimate(std::size_t) const { return seen; }
    std::optional<Trouble> time_once(std::size_t shape, double about, double& taken) {
      (void)ScriptedSide::time_once(shape, about, taken);
      taken += 4e-6 / std::ceil(50e-6 / about);
      seen = taken;
      return std::nullopt;
    }
  };
  Scene scene;
  scene.ours.seconds = scene.theirs.seconds = 23.3e-6;
  Batched ours{scene.ours}, theirs{scene.theirs};
  ours.seen = 25.2e-6;
  theirs.seen = 24.8e-6;
  Pairs pairs(problem, {.min_pairs = 24, .max_pairs = 24});
  CHECK(!pairs.take_round<Trouble>(AlternatingTimer<Trouble, Batched, Batched>(ours, theirs)));
  CHECK(ours.planned == theirs.planned);
  CHECK(ours.planned.front() == 24.8e-6);
  CHECK(pairs.speedup().ratio == approx(1).epsilon(0.005));

  Scene far;
  far.theirs.seconds = 0.005;
  Pairs apart(problem, {.max_pairs = 1});
  CHECK(!far.take(apart));
  CHECK(far.ours.planned == std::vector<double>(2, 1e-3));
  CHECK(far.theirs.planned == std::vector<double>(2, 0.005));
}

TEST_CASE("Pairs: long calls are not warmed up") {
  const Problem problem = shapes_of({1});
  Scene scene;
  scene.ours.seconds = 0.02;
  Pairs pairs(problem, {.max_pairs = 3});
  CHECK(!scene.take(pairs));
  CHECK(scene.order == "tootto");
}

TEST_CASE("Pairs: rounds share what is asked for, and are looked at rarely") {
  const Problem problem = shapes_of({1, 0, 2});
  Scene scene;
  Pairs pairs(problem,
              {.min_pairs = 12, .max_pairs = 48, .precision = 0.01, .budget_seconds = 100, .rounds = 4});
  for (int round = 0; pairs.wants_round(); ++round) {
    CHECK(pairs.round() == static_cast<std::size_t>(round));
    CHECK(!scene.take(pairs));
  }
  CHECK(pairs.round() == 4);
  const Speedup speedup = pairs.speedup();
  CHECK(speedup.pairs == 2 * 4 * PairingRule::first_look);  // narrow at the first look
  CHECK(speedup.interval.low > 1.08);
  CHECK(speedup.interval.high < 1.12);
}

TEST_CASE("PairingRule: looks at six, then after a third more; the budget and the most pairs end it") {
  PairedTimes noisy;
  Rng rng(5);
  PairingRule rule({.min_pairs = 2, .max_pairs = 30, .precision = 1e-6, .budget_seconds = 10});
  std::size_t count = 0;
  do {
    noisy.reference.push_back(1 + rng.uniform());
    noisy.candidate.push_back(1 + rng.uniform());
    ++count;
  } while (!rule.enough(noisy, 0));
  CHECK(count == 30);

  const auto same = [](std::size_t n) {
    PairedTimes pairs;
    pairs.reference.assign(n, 2.0);
    pairs.candidate.assign(n, 1.0);
    return pairs;
  };
  PairingRule looks({.min_pairs = 2, .max_pairs = 100});
  CHECK(!looks.enough(same(5), 0));
  CHECK(looks.enough(same(6), 0));
  PairingRule later({.min_pairs = 9, .max_pairs = 100, .precision = 1e-6});
  CHECK(!later.enough(noisy, 0));     // a look, at 30
  CHECK(!later.enough(same(39), 0));  // none before 40
  CHECK(later.enough(same(40), 0));
  PairingRule late({.max_pairs = 100, .budget_seconds = 1});
  CHECK(!late.enough(same(2), 2));
  CHECK(late.enough(same(3), 2));
}

TEST_CASE("Pairs: rounds end early where starting takes most of the time, and begin again when asked") {
  const Problem problem = shapes_of({1});
  Scene scene;
  Pairs pairs(problem, {.max_pairs = 60, .budget_seconds = 1, .rounds = 10});
  std::size_t rounds = 0;
  for (; pairs.wants_round(); ++rounds) {
    pairs.started(1.5);
    CHECK(!scene.take(pairs));
  }
  CHECK(rounds == 3);
  pairs.start_over();
  CHECK(!pairs.complete());
  CHECK(pairs.round() == 0);
  CHECK(pairs.speedup().pairs == 0);
}

TEST_CASE("Pairs: what is plain after three rounds takes no more, and equal sides take all") {
  const Problem problem = shapes_of({1});
  const auto rounds_of = [&](double theirs) {
    Scene scene;
    scene.theirs.seconds = theirs;
    Pairs pairs(problem, {.max_pairs = 60, .budget_seconds = 100, .rounds = 6});
    while (pairs.wants_round()) CHECK(!scene.take(pairs));
    return pairs.round();
  };
  CHECK(rounds_of(2e-3) == 3);
  CHECK(rounds_of(0.5e-3) == 3);
  CHECK(rounds_of(1e-3) == 6);
  CHECK(rounds_of(1.2e-3) == 6);
}

TEST_CASE("Pairs: one pair of processes cannot show what lies between processes") {
  const Problem problem = shapes_of({1});
  Scene scene;
  Pairs one(problem, {.max_pairs = 6});
  one.assume_between_processes(0.03);
  CHECK(!scene.take(one));
  const Speedup speedup = one.speedup();
  CHECK(std::log(speedup.interval.high / speedup.ratio) > 0.03);
  CHECK(std::log(speedup.ratio / speedup.interval.low) > 0.03);
  CHECK(std::log(speedup.interval.high / speedup.ratio) < 0.032);

  Pairs two(problem, {.max_pairs = 12, .rounds = 6});
  two.assume_between_processes(0.03);
  while (two.wants_round()) CHECK(!scene.take(two));
  CHECK(two.speedup().interval.high / two.speedup().interval.low < 1.02);
}

TEST_CASE("Pairs: a fault ends a round; a stop leaves what an interval needs, or nothing") {
  struct Broken : ScriptedSide {
    std::optional<Trouble> time_once(std::size_t, double, double&) { return "broken"; }
  };
  const Problem problem = shapes_of({1});
  Scene scene;
  Broken broken{scene.ours};
  Pairs pairs(problem, {});
  CHECK(pairs.take_round<Trouble>(AlternatingTimer<Trouble, Broken, ScriptedSide>(broken, scene.theirs)) ==
        Trouble("broken"));
  CHECK(pairs.speedup().pairs == 0);

  std::stop_source stop;
  Pairs stopped(problem, {.stop = stop.get_token()});
  const std::vector<double> five(5, 1.0), six(6, 1.0);
  stopped.add(0, 1, five, five);
  CHECK(stopped.complete());
  stop.request_stop();
  CHECK(!stopped.complete());
  CHECK(!stopped.wants_round());
  stopped.add(0, 1, six, five);  // what both have
  CHECK(stopped.speedup().pairs == 10);
}

TEST_CASE("Pairs: identical sides give intervals that hold 1") {
  const Problem problem = shapes_of({1, 1});
  int missed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Scene scene;
    scene.rng = Rng(seed);
    scene.theirs.seconds = scene.ours.seconds;
    scene.ours.scatter = scene.theirs.scatter = 0.02;
    Pairs pairs(problem, {.max_pairs = 48, .precision = 0.01, .rounds = 6});
    while (pairs.wants_round()) {
      // Processes differ by about a per cent.
      scene.ours.seconds = 1e-3 * std::exp(0.01 * scene.rng.normal());
      scene.theirs.seconds = 1e-3 * std::exp(0.01 * scene.rng.normal());
      CHECK(!scene.take(pairs));
    }
    const Interval interval = pairs.speedup().interval;
    missed += interval.low > 1 || interval.high < 1;
  }
  CHECK(missed <= 16);  // 5 % of 200, and what chance adds
}

TEST_CASE(
    "PairingTime: pairs that take long take a quarter of the time of the trials, cheap ones are always "
    "taken") {
  PairingTime cheap;
  for (int trial = 0; trial < 10; ++trial) {
    CHECK(cheap.allows());
    cheap.trial(0.01);
    cheap.pairs(PairingTime::cheap);
  }
  PairingTime expensive;
  double pairs = 0, trials = 0;
  std::string taken;
  for (int trial = 0; trial < 20; ++trial) {
    expensive.trial(1);
    trials += 1;
    taken += expensive.allows() ? 'p' : '.';
    if (taken.back() == '.') continue;
    expensive.pairs(2);
    pairs += 2;
    if (trial > 0) CHECK(pairs <= PairingTime::share * trials);
  }
  // The first is taken unseen; then they are taken as often as the share allows.
  CHECK(taken == "p..............p....");
}
