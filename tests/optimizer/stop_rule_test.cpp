// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/optimizer/stop_rule.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/optimizer/optimizer.hpp"
#include "support/scripted.hpp"

using namespace kernelsearch;

namespace {

/// The least that is a StopRule.
struct Archetype {
  std::uint64_t at;
  bool reached(const RunProgress& progress) const { return progress.trials >= at; }
  std::string describe() const { return "the archetype"; }
};
static_assert(StopRule<Archetype>);

struct AsksTwice {
  bool reached(const RunProgress&) { return false; }  // not const: a rule decides from progress alone
  std::string describe() const { return ""; }
};
static_assert(!StopRule<AsksTwice>);
struct Counts {
  int reached(const RunProgress&) const { return 1; }
  std::string describe() const { return ""; }
};
static_assert(!StopRule<Counts>);

RunProgress at(std::uint64_t trials, std::uint64_t since_gain = 0, double seconds = 0) {
  RunProgress progress;
  progress.trials = trials;
  progress.trials_since_gain = since_gain;
  progress.seconds = seconds;
  return progress;
}

}  // namespace

TEST_CASE("StopRule: the archetype ends a run and says so") {
  Optimizer search{scripted::Counting{.last = 100}, scripted::Copying{}, scripted::Landscape{}};
  const RunSummary summary = search.run(Archetype{4});
  CHECK(summary.trials == 4);
  CHECK(summary.reason == "the archetype");
}

TEST_CASE("StopRule: each rule is reached at its bound and not before") {
  CHECK_FALSE(Never{}.reached(at(1000000, 1000000, 1e9)));
  CHECK_FALSE(MaxTrials{10}.reached(at(9)));
  CHECK(MaxTrials{10}.reached(at(10)));
  CHECK_FALSE(WallTime{2.0}.reached(at(0, 0, 1.999)));
  CHECK(WallTime{2.0}.reached(at(0, 0, 2.0)));

  RunProgress progress = at(50, 20);
  CHECK_FALSE(NoGain{20}.reached(progress));  // no best yet: patience starts with the first one
  progress.best = 1.0;
  CHECK(NoGain{20}.reached(progress));
  CHECK_FALSE(NoGain{21}.reached(progress));
  CHECK_FALSE(TargetSpeedup{2.0}.reached(progress));
  progress.best_speedup = 1.99;
  CHECK_FALSE(TargetSpeedup{2.0}.reached(progress));
  progress.best_speedup = 2.0;
  CHECK(TargetSpeedup{2.0}.reached(progress));
  progress.best_speedup.reset();
  CHECK_FALSE(TargetSpeedup{2.0}.reached(progress));
}

TEST_CASE("StopRule: || ends with either, && with both, and they nest") {
  const auto either = MaxTrials{10} || WallTime{1.0};
  CHECK_FALSE(either.reached(at(9, 0, 0.5)));
  CHECK(either.reached(at(10, 0, 0.5)));
  CHECK(either.reached(at(9, 0, 1.5)));
  const auto both = MaxTrials{10} && WallTime{1.0};
  CHECK_FALSE(both.reached(at(10, 0, 0.5)));
  CHECK_FALSE(both.reached(at(9, 0, 1.5)));
  CHECK(both.reached(at(10, 0, 1.5)));
  const auto nested = (MaxTrials{10} && WallTime{1.0}) || MaxTrials{20};
  static_assert(StopRule<std::remove_const_t<decltype(nested)>>);
  CHECK(nested.reached(at(20)));
  CHECK_FALSE(nested.reached(at(19)));
  CHECK(MaxTrials{5}.describe() == "5 trials");
  CHECK((Archetype{1} && (Never{} || Archetype{2})).describe() == "the archetype and never or the archetype");
}
