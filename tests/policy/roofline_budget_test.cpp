// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/roofline_budget.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

#include "kernelsearch/core/error.hpp"

#include "support/approx.hpp"
#include "support/move_policy_contract.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

Method method(std::string id, Axis axis, std::size_t priority, std::string feature = {}) {
  Method one;
  one.name = id;
  one.id = std::move(id);
  one.axis = axis;
  one.priority = priority;
  if (!feature.empty()) one.signature.any.push_back({feature, false});
  return one;
}

/// The strategies of the contract's world, one on each axis.
const auto make_roofline_budget = [](std::vector<std::string> strategies, std::uint64_t seed) {
  RooflineBudgetOptions options;
  for (std::size_t i = 0; i < strategies.size(); ++i)
    options.methods.push_back(method(strategies[i], all_axes[i % 3], 1));
  options.seed = seed;
  options.pairs = 3;
  return RooflineBudget(options);
};

/// Kernels as their times: what a move becomes is written in the test.
class Stage {
 public:
  using Rule = std::function<void(const Move&, Outcome&)>;
  Stage(RooflineBudgetOptions options, Rule rule) : policy(std::move(options)), rule_(std::move(rule)) {}

  /// Runs to the end, at most `window` at a time; all moves.
  std::vector<Move> run(std::size_t window = 100) {
    std::vector<Move> moves;
    for (std::vector<Move> asked = policy.ask(window); !asked.empty(); asked = policy.ask(window))
      for (const Move& move : asked) {
        moves.push_back(move);
        move_policy_contract::tell(policy, told(move));
        record.push_back(told_.back());
      }
    return moves;
  }

  Observation<Move> told(const Move& move) {
    Observation<Move> observation{move, {}};
    Outcome& outcome = observation.outcome;
    outcome.id = TrialId{next_};
    outcome.origin = Origin{ProposalId{next_++}, 0, 1};
    outcome.parents = move.parents;
    rule_(move, outcome);
    if (!has_candidate(outcome.evaluation.verdict)) outcome.origin->count = 0;
    told_.push_back(observation);
    return observation;
  }

  RooflineBudget policy;
  std::vector<Observation<Move>> record;

 private:
  Rule rule_;
  std::uint64_t next_ = 0;
  std::vector<Observation<Move>> told_;
};

void takes(Outcome& outcome, double seconds) {
  outcome.objective = seconds;
  outcome.evaluation = Evaluation::succeeded(seconds);
}
void paired(Outcome& outcome, double ratio, double half = 0.002) {
  Features& features = outcome.evaluation.features;
  features.set("times_parent", ratio);
  features.set("times_parent.low", ratio - half);
  features.set("times_parent.high", ratio + half);
}
void fails(Outcome& outcome, Verdict verdict, double progress = 0) {
  outcome.evaluation = Evaluation::failed(verdict, "scripted");
  outcome.evaluation.progress = progress;
}
void gaps(Outcome& outcome, double compute, double memory, double latency) {
  Features& features = outcome.evaluation.features;
  features.set("compute_utilisation", 100 * (1 - compute));
  features.set("dram_utilisation", 100 * (1 - memory));
  features.set("stall_wait", 100 * latency);
}
bool is(const Move& move, MoveKind kind) {
  return move.kind == kind;
}

RooflineBudgetOptions three() {
  RooflineBudgetOptions options;
  options.methods = {
      method("compute.a", Axis::compute, 1, "code.a"), method("memory.b", Axis::memory, 1, "code.b"),
      method("latency.c", Axis::latency, 1, "code.c"), method("compute.d", Axis::compute, 2, "code.d")};
  options.iterations = 1;
  return options;
}

}  // namespace

TEST_CASE("RooflineBudget: keeps the contract of policies over moves") {
  static_assert(SearchPolicy<RooflineBudget>);
  move_policy_contract::check(make_roofline_budget);
}

TEST_CASE("RooflineBudget: defaults are those of the post") {
  const RooflineBudgetOptions options;
  CHECK(options.iterations == 3);
  CHECK(options.branches == 4);
  CHECK(options.rewrites == 3);
  CHECK(options.noise == 0.02);
  CHECK(options.near == 0.15);
  CHECK(options.budget.total == 3);
  CHECK(options.budget.cap == 2);
  RooflineBudgetOptions none;
  none.branches = 0;
  CHECK_THROWS_AS(RooflineBudget{none}, ConfigError);
}

TEST_CASE("RooflineBudget: branches of one set of methods, then the champion without each, then verdicts") {
  Stage stage(three(), [](const Move& move, Outcome& outcome) {
    if (is(move, MoveKind::root)) {
      takes(outcome, 10);
      gaps(outcome, 0.9, 0.5, 0.4);
      for (const char* name : {"code.a", "code.b", "code.c"}) outcome.evaluation.features.set(name, 0);
    } else if (is(move, MoveKind::branch)) {
      takes(outcome, 8.0 - move.variant);
      for (const char* name : {"code.a", "code.b"}) outcome.evaluation.features.set(name, 4);
      outcome.evaluation.features.set("code.c", 0);
    } else {  // a earned 30 %, b nothing, c 20 % though it is not there
      const bool a = move.strategy() == "compute.a", b = move.strategy() == "memory.b";
      takes(outcome, 5);
      paired(outcome, a ? 1.3 : b ? 1.001 : 1.2);
      for (const char* name : {"code.a", "code.b", "code.c"}) outcome.evaluation.features.set(name, 0);
    }
  });
  const std::vector<Move> moves = stage.run();
  REQUIRE(moves.size() == 1 + 4 + 3);
  const std::vector<std::string> all{"compute.a", "memory.b", "latency.c"};
  for (std::uint32_t k = 0; k < 4; ++k) CHECK(moves[1 + k] == Move{MoveKind::branch, {TrialId{0}}, all, k});
  for (std::size_t k = 0; k < 3; ++k)
    CHECK(moves[5 + k] == Move{MoveKind::ablate, {TrialId{4}}, {all[k]}, 0});  // of the fastest branch

  REQUIRE(stage.policy.iterations().size() == 1);
  const SkillIteration& one = stage.policy.iterations()[0];
  CHECK(one.bound == Bound::compute);
  CHECK(one.budget.total() == 3);
  CHECK_FALSE(one.degraded);
  CHECK(one.champion == TrialId{4});
  CHECK(one.status == SkillStatus::improved);
  CHECK(one.gain.effect == approx(1.0));  // twice as fast
  REQUIRE(one.verdicts.size() == 3);
  CHECK(one.verdicts[0].fate == MethodFate::effective);
  CHECK(one.verdicts[0].proven());
  CHECK(one.verdicts[0].kept);
  CHECK(one.verdicts[0].attribution.effect == approx(0.3));
  CHECK(one.verdicts[1].fate == MethodFate::ineffective);
  CHECK(one.verdicts[1].evidence == Evidence::verified);
  CHECK(one.verdicts[2].fate == MethodFate::implementation_failed);  // though it "earned" 20 %
  CHECK(one.verdicts[2].evidence == Evidence::absent);
  CHECK(stage.policy.champion() == TrialId{4});
  CHECK(stage.policy.applied(TrialId{4}) == std::vector<std::size_t>{0, 1, 2});
  CHECK(stage.policy.applied(TrialId{5}) == std::vector<std::size_t>{1, 2});
  const std::vector<FrontierKernel> frontier = stage.policy.frontier();
  REQUIRE(frontier.size() == 3);
  CHECK(frontier[0].variant == 2);
  CHECK(frontier[0].behind == approx(0.2));
  CHECK(stage.policy.ending().reason == SkillEnd::iterations);
}

TEST_CASE("RooflineBudget: the next iteration knows what became of methods; failed ones are tried again") {
  RooflineBudgetOptions options = three();
  options.iterations = 3;
  std::size_t iteration = 0;
  Stage stage(options, [&](const Move& move, Outcome& outcome) {
    Features& features = outcome.evaluation.features;
    if (is(move, MoveKind::branch)) {
      if (move.variant == 0) ++iteration;
      takes(outcome, 10.0 - 2.0 * static_cast<double>(iteration) + 0.1 * move.variant);
      for (const char* name : {"code.a", "code.d"}) features.set(name, static_cast<double>(iteration));
      for (const char* name : {"code.b", "code.c"}) features.set(name, 0);
      gaps(outcome, 0.9, 0.5, 0.4);
    } else if (is(move, MoveKind::root)) {
      takes(outcome, 10);
      for (const char* name : {"code.a", "code.b", "code.c", "code.d"})
        outcome.evaluation.features.set(name, 0);
      gaps(outcome, 0.9, 0.5, 0.4);
    } else {
      takes(outcome, 20);
      paired(outcome, 1.5);
      for (const char* name : {"code.a", "code.b", "code.c", "code.d"})
        outcome.evaluation.features.set(name, 0);
    }
  });
  stage.run();
  const std::vector<SkillIteration>& its = stage.policy.iterations();
  REQUIRE(its.size() == 2);
  CHECK(its[0].choice.taken == std::vector<std::size_t>{0, 1, 2});
  CHECK(its[1].start == *its[0].champion);
  // a is applied; b and c were not in the code: once more; then two attempts are enough.
  CHECK(its[1].choice.taken == std::vector<std::size_t>{3, 1, 2});
  CHECK(its[1].verdicts[1].fate == MethodFate::implementation_failed);
  CHECK(stage.policy.record()[1].attempts == 2);
  CHECK(stage.policy.ending().reason == SkillEnd::no_method);
}

TEST_CASE("RooflineBudget: no branch is right: the furthest is mended, at most so often") {
  int mends = 0;
  const auto rule = [&mends](int right_at) {
    return [&mends, right_at](const Move& move, Outcome& outcome) {
      if (is(move, MoveKind::root)) takes(outcome, 10), gaps(outcome, 0.9, 0.5, 0.4);
      if (is(move, MoveKind::branch))
        fails(outcome, move.variant == 2 ? Verdict::wrong_result : Verdict::build_failed,
              move.variant == 2 ? 0.6 : 0.0);
      if (is(move, MoveKind::debug)) {
        ++mends;
        if (mends == right_at)
          takes(outcome, 6);
        else
          fails(outcome, Verdict::crashed, 0.25);
      }
      if (is(move, MoveKind::ablate)) fails(outcome, Verdict::wrong_result, 0.5);
    };
  };
  SUBCASE("the third helps") {
    Stage stage(three(), rule(3));
    const std::vector<Move> moves = stage.run();
    CHECK(mends == 3);
    CHECK(moves[5].kind == MoveKind::debug);
    CHECK(moves[5].parents == std::vector<TrialId>{TrialId{3}});  // variant 2 came furthest
    CHECK(moves[6].variant == 1);
    const SkillIteration& one = stage.policy.iterations()[0];
    CHECK(one.retries == 3);
    CHECK(one.champion == TrialId{7});
    CHECK(stage.policy.applied(TrialId{7}).size() == 3);
    // Without any of them the kernel is not right: each is essential.
    for (const MethodVerdict& verdict : one.verdicts) CHECK(verdict.contributed == Contribution::yes);
  }
  SUBCASE("none does") {
    Stage stage(three(), rule(99));
    stage.run();
    CHECK(mends == 3);
    const SkillIteration& one = stage.policy.iterations()[0];
    CHECK(one.status == SkillStatus::failed_validation);
    CHECK_FALSE(one.champion.has_value());
    for (const MethodVerdict& verdict : one.verdicts)
      CHECK(verdict.fate == MethodFate::implementation_failed);
    CHECK(stage.policy.champion() == TrialId{0});
  }
}

TEST_CASE("RooflineBudget: branches of which nothing came are asked for again") {
  Stage stage(three(), [](const Move& move, Outcome& outcome) {
    if (is(move, MoveKind::root))
      takes(outcome, 10), gaps(outcome, 0.9, 0.5, 0.4);
    else
      fails(outcome, Verdict::not_generated);
  });
  const std::vector<Move> moves = stage.run();
  REQUIRE(moves.size() == 1 + 4 + 3);
  CHECK(moves.back().kind == MoveKind::branch);
  CHECK(moves.back().variant == 6);
  CHECK(stage.policy.iterations()[0].retries == 3);
}

TEST_CASE(
    "RooflineBudget: what an outage left without an answer is asked for again, and counts for nothing") {
  std::size_t lost = 0;
  const auto run = [&lost](bool outages) {
    std::map<MoveKind, int> times;
    Stage stage(three(), [&](const Move& move, Outcome& outcome) {
      if (is(move, MoveKind::root)) {
        takes(outcome, 10), gaps(outcome, 0.9, 0.5, 0.4);
      } else if (outages && ++times[move.kind] <= 2) {  // the first two of each kind
        outcome.evaluation = Evaluation::unanswered("writer: no reply: network");
        ++lost;
      } else if (is(move, MoveKind::branch)) {
        fails(outcome, Verdict::build_failed, 0.1);
      } else {
        takes(outcome, is(move, MoveKind::debug) ? 5 : 7);
      }
    });
    stage.run(1);
    REQUIRE(stage.policy.iterations().size() == 1);
    return stage.policy.iterations()[0];
  };
  const SkillIteration smooth = run(false), through = run(true);
  CHECK(lost == 2 + 2 + 2);  // branches, rewrites, ablations
  CHECK(through.branches.size() == 4 + 1);
  CHECK(through.branches.size() == smooth.branches.size());
  CHECK(through.retries == 1);
  REQUIRE(through.ablations.size() == 3);
  for (const SkillAblation& ablation : through.ablations) CHECK(ablation.verdict == Verdict::ok);
  REQUIRE(through.verdicts.size() == smooth.verdicts.size());
  for (std::size_t i = 0; i < smooth.verdicts.size(); ++i)
    CHECK(through.verdicts[i].fate == smooth.verdicts[i].fate);
}

TEST_CASE("RooflineBudget: a method that does not apply is left out of the iteration, which begins anew") {
  std::vector<std::vector<std::string>> asked;
  Stage stage(three(), [&asked](const Move& move, Outcome& outcome) {
    if (is(move, MoveKind::root)) {
      takes(outcome, 10), gaps(outcome, 0.9, 0.5, 0.4);
    } else if (is(move, MoveKind::branch)) {
      if (asked.empty() || asked.back() != move.strategies) asked.push_back(move.strategies);
      const auto& names = move.strategies;
      if (std::find(names.begin(), names.end(), "memory.b") != names.end()) {
        fails(outcome, Verdict::not_applicable);
        outcome.evaluation.reason = "memory.b: nothing is read twice";
      } else {
        takes(outcome, 5);
      }
    } else {
      takes(outcome, 7);
    }
  });
  stage.run();
  REQUIRE(asked.size() == 2);
  CHECK(asked[0] == std::vector<std::string>{"compute.a", "memory.b", "latency.c"});
  CHECK(asked[1] == std::vector<std::string>{"compute.a", "latency.c"});
  REQUIRE(stage.policy.iterations().size() == 1);  // the first one counts for nothing
  const SkillIteration& one = stage.policy.iterations()[0];
  CHECK(one.number == 1);
  CHECK(one.retries == 0);
  CHECK(one.champion.has_value());
  bool told = false;
  for (const MethodDecision& decision : one.choice.decisions)
    if (decision.reason == MethodReason::not_applicable) {
      told = true;
      CHECK(decision.method == 1);
      CHECK(decision.words == "it was judged not to apply to this kernel: memory.b: nothing is read twice");
    }
  CHECK(told);
  CHECK(stage.policy.record()[1].attempts == 0);
}

TEST_CASE("RooflineBudget: what does not apply is asked for in one branch, as published in all") {
  for (const bool published : {false, true}) {
    CAPTURE(published);
    RooflineBudgetOptions options = three();
    options.as_published.rewrites = published;
    std::size_t declined = 0, branches = 0;
    Stage stage(options, [&](const Move& move, Outcome& outcome) {
      takes(outcome, 10 - move.variant);
      gaps(outcome, 0.9, 0.5, 0.4);
      if (!is(move, MoveKind::branch)) return;
      ++branches;
      if (std::find(move.strategies.begin(), move.strategies.end(), "memory.b") == move.strategies.end())
        return;
      ++declined;
      fails(outcome, Verdict::not_applicable);
      outcome.evaluation.reason = "memory.b: nothing is read twice";
    });
    stage.run(1);
    CHECK(declined == (published ? 4 : 1));
    CHECK(branches == declined + 4);
  }
}

TEST_CASE("RooflineBudget: it ends early, and says why") {
  const auto ending = [](std::optional<std::array<double, 3>> known,
                         RooflineBudgetOptions options = three()) {
    Stage stage(std::move(options), [known](const Move& move, Outcome& outcome) {
      takes(outcome, is(move, MoveKind::ablate) ? 12 : 10);
      if (known) gaps(outcome, (*known)[0], (*known)[1], (*known)[2]);
    });
    stage.run();
    return stage.policy.ending().reason;
  };
  CHECK(ending({{0.1, 0.14, 0.05}}) == SkillEnd::near_peak);
  CHECK(ending({{0.1, 0.16, 0.05}}) == SkillEnd::iterations);
  RooflineBudgetOptions many = three();
  many.iterations = 9;
  CHECK(ending({{0.9, 0.01, 0.02}}, many) == SkillEnd::no_method);  // a and d are used up

  Stage some(three(), [](const Move&, Outcome& outcome) {
    takes(outcome, 10);
    outcome.evaluation.features.set("compute_utilisation", 95);
  });
  some.run();
  CHECK(some.policy.ending().reason == SkillEnd::no_axis);  // of two axes nothing is known: not near_peak
  CHECK(some.policy.ending().gaps[Axis::compute] == approx(0.05));

  Stage wrong(three(), [](const Move&, Outcome& outcome) { fails(outcome, Verdict::build_failed); });
  CHECK(wrong.run().size() == 1 + 3);  // the problem's own kernel is mended too
  CHECK(wrong.policy.ending().reason == SkillEnd::no_kernel);
}

TEST_CASE("RooflineBudget: without a profile it gives each axis a slot, and says so") {
  Stage stage(three(),
              [](const Move& move, Outcome& outcome) { takes(outcome, is(move, MoveKind::root) ? 10 : 9); });
  stage.run();
  const SkillIteration& one = stage.policy.iterations()[0];
  CHECK(one.degraded);
  CHECK(one.bound == Bound::unknown);
  CHECK(one.budget == AxisBudget{{1, 1, 1}});
  // No machine code either: nothing is proven, and nothing is refuted by its absence.
  for (const MethodVerdict& verdict : one.verdicts) CHECK(verdict.evidence == Evidence::unknown);
}

TEST_CASE("RooflineBudget: an ablated kernel that is faster is gone on with; what it lost is not kept") {
  RooflineBudgetOptions options = three();
  options.iterations = 2;
  Stage stage(options, [](const Move& move, Outcome& outcome) {
    if (is(move, MoveKind::root)) takes(outcome, 10);
    if (is(move, MoveKind::branch)) takes(outcome, 9 + 0.1 * move.variant);
    if (is(move, MoveKind::ablate)) {
      const bool harmful = move.strategy() == "memory.b";
      takes(outcome, harmful ? 6 : 12);
      paired(outcome, harmful ? 0.67 : 1.33);
    }
    gaps(outcome, 0.9, 0.5, 0.4);
    for (const char* name : {"code.a", "code.b", "code.c"})
      outcome.evaluation.features.set(name, is(move, MoveKind::branch) ? 1 : 0);
  });
  stage.run();
  const SkillIteration& one = stage.policy.iterations()[0];
  CHECK(one.champion == TrialId{1});
  CHECK(one.verdicts[1].fate == MethodFate::ineffective);
  CHECK_FALSE(one.verdicts[1].kept);
  CHECK(one.verdicts[0].kept);
  REQUIRE(stage.policy.iterations().size() == 2);
  CHECK(stage.policy.iterations()[1].start == TrialId{6});
}

TEST_CASE("RooflineBudget: what helps only in a kernel that is given up stays open") {
  Stage stage(three(), [](const Move& move, Outcome& outcome) {
    takes(outcome, is(move, MoveKind::root) ? 10 : 14);  // the three together do harm
    if (is(move, MoveKind::ablate)) paired(outcome, move.strategy() == "compute.a" ? 1.2 : 0.9);
    gaps(outcome, 0.9, 0.5, 0.4);
    for (const char* name : {"code.a", "code.b", "code.c"})
      outcome.evaluation.features.set(name, is(move, MoveKind::branch) ? 1 : 0);
  });
  stage.run();
  const SkillIteration& one = stage.policy.iterations()[0];
  CHECK(one.status == SkillStatus::regressed);
  CHECK(one.verdicts[0].fate == MethodFate::effective);
  CHECK_FALSE(one.verdicts[0].kept);
  CHECK(stage.policy.record()[0].fate == MethodFate::implementation_failed);  // it may be tried again
  CHECK(stage.policy.record()[0].attempts == 1);
  CHECK(stage.policy.record()[1].fate == MethodFate::ineffective);
}

TEST_CASE("RooflineBudget: what the ablation shows is what is filed, whatever the parent seems to say") {
  // a and b look for the same count. Both are claimed, but b only: what the kernel has is a's.
  RooflineBudgetOptions options = three();
  options.methods[1].signature.any[0].feature = "code.a";
  const auto verdicts = [&options](double start, double with, double without_a, double without_b,
                                   double ratio_b) {
    Stage stage(options, [=](const Move& move, Outcome& outcome) {
      const bool a = move.strategy() == "compute.a";
      takes(outcome, is(move, MoveKind::root) ? 10 : 5);
      gaps(outcome, 0.9, 0.5, 0.4);
      double count = is(move, MoveKind::root) ? start : with;
      if (is(move, MoveKind::ablate)) {
        paired(outcome, a ? 1.4 : ratio_b);
        count = a ? without_a : move.strategy() == "memory.b" ? without_b : with;
      }
      outcome.evaluation.features.set("code.a", count);
      outcome.evaluation.features.set("code.c", 0);
    });
    stage.run();
    return stage.policy.iterations().at(0).verdicts;
  };
  SUBCASE("without it the code is the same: it is not there, and is not filed as tried and useless") {
    const auto filed = verdicts(0, 4, 0, 4, 1.0);
    CHECK(filed[0].proven());
    CHECK(filed[1].by_parent == Evidence::verified);
    CHECK(filed[1].by_ablation == Evidence::absent);
    CHECK(filed[1].evidence == Evidence::absent);
    CHECK(filed[1].fate == MethodFate::implementation_failed);
    CHECK_FALSE(filed[1].kept);
    CHECK(filed[1].words.find("another method's") != std::string::npos);
  }
  SUBCASE("also where the kernel without it is slower") {
    CHECK(verdicts(0, 4, 0, 4, 1.3)[1].fate == MethodFate::implementation_failed);
  }
  SUBCASE("two that are both there are told apart by what each leaves") {
    const auto filed = verdicts(0, 4, 1, 3, 1.2);
    CHECK(filed[0].proven());
    CHECK(filed[1].proven());
    CHECK(filed[1].coupled.empty());
  }
  SUBCASE("the parent had as many: the ablation shows it all the same") {
    const auto filed = verdicts(4, 4, 2, 4, 1.0);
    CHECK(filed[0].by_parent == Evidence::absent);
    CHECK(filed[0].fate == MethodFate::effective);
  }
}

TEST_CASE("RooflineBudget: an ablation of a kernel that is given up shows nothing of the champion") {
  RooflineBudgetOptions options = three();
  options.iterations = 2;
  Stage stage(options, [](const Move& move, Outcome& outcome) {
    takes(outcome, is(move, MoveKind::root) ? 10 : is(move, MoveKind::branch) ? 2 + move.variant : 20);
    gaps(outcome, 0.9, 0.5, 0.4);
    // the first champion has a, the second has none: without a the first has as many as the second
    const bool first = is(move, MoveKind::branch) && move.variant == 0;
    outcome.evaluation.features.set("code.a", first ? 5 : is(move, MoveKind::ablate) ? 1 : 3);
  });
  for (int i = 0; i < 8; ++i) {
    const Move move = stage.policy.ask(1).at(0);
    move_policy_contract::tell(stage.policy, stage.told(move));
    if (i != 5) continue;
    Observation<Move> fraud{Move{MoveKind::branch, {TrialId{0}}, {}, 0}, {}};
    fraud.outcome.id = TrialId{1};
    fraud.outcome.evaluation = Evaluation::failed(Verdict::cheated, "found late");
    move_policy_contract::tell(stage.policy, fraud);
  }
  CHECK(stage.policy.iterations().at(0).champion == TrialId{2});
  CHECK(stage.policy.iterations()[0].verdicts.at(0).by_ablation == Evidence::unknown);
}

TEST_CASE("RooflineBudget: methods of one trace that no ablation tells apart are filed as coupled") {
  RooflineBudgetOptions options = three();
  options.iterations = 2;
  options.methods.pop_back();
  options.methods[1].signature.any[0].feature = "code.a";
  Stage stage(options, [](const Move& move, Outcome& outcome) {
    takes(outcome, is(move, MoveKind::root) ? 10 : 5 + 0.1 * move.variant);
    gaps(outcome, 0.9, 0.5, 0.4);
    outcome.evaluation.features.set("code.a", is(move, MoveKind::root) ? 0 : 4);
    outcome.evaluation.features.set("code.c", is(move, MoveKind::root) ? 0 : 4);
    if (is(move, MoveKind::ablate)) fails(outcome, Verdict::not_generated);
  });
  stage.run();
  const SkillIteration& one = stage.policy.iterations().at(0);
  REQUIRE(one.verdicts.size() == 3);
  CHECK(one.verdicts[0].fate == MethodFate::coupled);
  CHECK(one.verdicts[0].evidence == Evidence::unknown);
  CHECK(one.verdicts[0].coupled == std::vector<std::size_t>{1});
  CHECK(one.verdicts[1].coupled == std::vector<std::size_t>{0});
  CHECK(one.verdicts[0].words.find("memory.b") != std::string::npos);
  CHECK(one.verdicts[2].fate == MethodFate::effective);  // its trace is its own
  CHECK(one.verdicts[2].coupled.empty());
  // They are open, but not together.
  REQUIRE(stage.policy.iterations().size() == 2);
  CHECK(stage.policy.iterations()[1].choice.taken == std::vector<std::size_t>{0});
}

TEST_CASE("RooflineBudget: a trace of its own tells a method apart") {
  RooflineBudgetOptions options = three();
  options.methods[0].signature.any.push_back({"code.own", false});
  options.methods[1].signature.any[0].feature = "code.a";
  Stage stage(options, [](const Move& move, Outcome& outcome) {
    takes(outcome, is(move, MoveKind::root) ? 10 : 5);
    gaps(outcome, 0.9, 0.5, 0.4);
    const double more = is(move, MoveKind::root) ? 0 : 4;
    for (const char* name : {"code.a", "code.c", "code.own"}) outcome.evaluation.features.set(name, more);
    if (move.strategy() == "latency.c") fails(outcome, Verdict::not_generated);
    if (is(move, MoveKind::ablate) && move.strategy() != "latency.c") fails(outcome, Verdict::build_failed);
  });
  stage.run();
  const auto& filed = stage.policy.iterations().at(0).verdicts;
  CHECK(filed[0].evidence == Evidence::verified);
  CHECK(filed[0].fate == MethodFate::effective);
  CHECK(filed[1].fate == MethodFate::coupled);  // all it could show may be a's
}

TEST_CASE("RooflineBudget: a trace is a method's where the other that leaves it is known not to be there") {
  RooflineBudgetOptions options = three();
  options.methods[1].signature.any[0].feature = "code.a";
  Stage stage(options, [](const Move& move, Outcome& outcome) {
    takes(outcome, is(move, MoveKind::root) ? 10 : 5);
    gaps(outcome, 0.9, 0.5, 0.4);
    for (const char* name : {"code.a", "code.c"})
      outcome.evaluation.features.set(name, is(move, MoveKind::root) ? 0 : 4);
    if (move.strategy() == "compute.a" && is(move, MoveKind::ablate)) fails(outcome, Verdict::build_failed);
  });
  stage.run();
  const auto& filed = stage.policy.iterations().at(0).verdicts;
  CHECK(filed[1].by_ablation == Evidence::absent);  // without b the code is the same
  CHECK(filed[0].by_ablation == Evidence::unknown);
  CHECK(filed[0].evidence == Evidence::verified);  // so what is there is a's
  CHECK(filed[0].fate == MethodFate::effective);
  CHECK(filed[0].coupled.empty());
}

TEST_CASE("RooflineBudget: a profile at the roof ends the search as near its peak") {
  Stage stage(three(), [](const Move&, Outcome& outcome) {
    takes(outcome, 10);
    for (const auto& [name, value] :
         {std::pair("tensor_utilisation", 93.0), std::pair("dram_utilisation", 21.0),
          std::pair("stall_gmma", 61.0), std::pair("stall_long_scoreboard", 24.0),
          std::pair("roof_utilisation", 96.0)})
      outcome.evaluation.features.set(name, value);
  });
  CHECK(stage.run().size() == 1);
  CHECK(stage.policy.ending().reason == SkillEnd::near_peak);
}

TEST_CASE("RooflineBudget: pairs of ablations show methods that stand in for each other") {
  RooflineBudgetOptions options = three();
  options.pairs = 2;
  Stage stage(options, [](const Move& move, Outcome& outcome) {
    takes(outcome, is(move, MoveKind::root) ? 10 : 5);
    gaps(outcome, 0.9, 0.5, 0.4);
    if (is(move, MoveKind::ablate)) paired(outcome, move.strategies.size() == 1 ? 1.0 : 1.5);
  });
  const std::vector<Move> moves = stage.run();
  CHECK(std::count_if(moves.begin(), moves.end(), [](const Move& m) { return m.strategies.size() == 2; }) ==
        2);
  const SkillIteration& one = stage.policy.iterations()[0];
  REQUIRE(one.interactions.size() == 2);
  CHECK(one.interactions[0].beyond.effect == approx(0.5));
}

TEST_CASE("RooflineBudget: a later iteration may start from the frontier") {
  RooflineBudgetOptions options = three();
  options.iterations = 2;
  options.from_frontier = true;
  Stage stage(options, [](const Move& move, Outcome& outcome) {
    takes(outcome, is(move, MoveKind::root) ? 10 : 11 + move.variant);  // nothing gains
    gaps(outcome, 0.9, 0.5, 0.4);
  });
  stage.run();
  REQUIRE(stage.policy.iterations().size() == 2);
  CHECK(stage.policy.iterations()[1].start == TrialId{2});  // the best that was not the champion
}

TEST_CASE("RooflineBudget: a method that earned its place in one line of kernels is open in another") {
  RooflineBudgetOptions options = three();
  options.methods.push_back(method("compute.e", Axis::compute, 3, "code.e"));
  options.iterations = 4;
  options.from_frontier = true;
  Stage stage(options, [](const Move& move, Outcome& outcome) {
    const bool d = std::ranges::count(move.strategies, "compute.d") > 0;
    const bool e = std::ranges::count(move.strategies, "compute.e") > 0;
    if (is(move, MoveKind::root)) takes(outcome, 10);
    // The first iteration gains nothing, the second, from its frontier, doubles the speed, the third nothing.
    if (is(move, MoveKind::branch)) {
      takes(outcome, (d ? 5 : e ? 6 : 11) + 0.1 * move.variant);
      if ((d || e) && move.variant > 0) fails(outcome, Verdict::wrong_result, 0.5);
    }
    if (is(move, MoveKind::ablate)) {
      takes(outcome, 20);
      paired(outcome, d ? 2 : 1);
    }
    gaps(outcome, 0.9, 0.5, 0.4);
    for (const char* name : {"code.a", "code.b", "code.c", "code.d", "code.e"}) {
      const bool there =
          (d && name == std::string_view("code.d")) || (e && name == std::string_view("code.e"));
      outcome.evaluation.features.set(name, is(move, MoveKind::branch) && (there || (!d && !e)) ? 1 : 0);
    }
  });
  stage.run();
  const std::vector<SkillIteration>& its = stage.policy.iterations();
  REQUIRE(its.size() == 4);
  CHECK(its[1].start == TrialId{2});  // of the frontier of the first
  CHECK(its[1].choice.taken == std::vector<std::size_t>{3});
  CHECK(its[1].verdicts[0].fate == MethodFate::effective);
  CHECK(its[1].verdicts[0].kept);
  CHECK(its[2].start == *its[1].champion);
  CHECK(its[2].choice.taken == std::vector<std::size_t>{4});  // d is applied there
  CHECK(its[3].start == TrialId{3});                          // it was made without d
  CHECK(its[3].choice.taken == std::vector<std::size_t>{3});
}

TEST_CASE("RooflineBudget: killed after any step, it goes on the same from what was told") {
  RooflineBudgetOptions options = three();
  options.iterations = 3;
  options.pairs = 1;
  const auto rule = [](const Move& move, Outcome& outcome) {
    const double depth = static_cast<double>(move.parents.empty() ? 0 : number(move.parents.front()));
    if (move.variant == 3 && is(move, MoveKind::branch))
      fails(outcome, Verdict::crashed, 0.25);
    else
      takes(outcome, 10 - 0.3 * depth + 0.1 * move.variant);
    gaps(outcome, 0.9 - 0.05 * depth, 0.5, 0.4);
    outcome.evaluation.features.set("code.a", depth);
  };
  for (const std::size_t window : {1u, 3u, 50u}) {
    Stage whole(options, rule);
    const std::vector<Move> moves = whole.run(window);
    REQUIRE(moves.size() > 12);
    for (std::size_t cut = 0; cut <= whole.record.size(); ++cut) {
      CAPTURE(window);
      CAPTURE(cut);
      // As the loop replays a record: asked as often, told the same.
      RooflineBudget again(options);
      std::vector<Move> asked;
      std::size_t told = 0;
      while (asked.size() < moves.size()) {
        const std::vector<Move> batch = again.ask(window);
        if (batch.empty()) break;
        asked.insert(asked.end(), batch.begin(), batch.end());
        for (std::size_t i = 0; i < batch.size() && told < cut; ++i, ++told)
          move_policy_contract::tell(again, whole.record[told]);
        if (told == cut) break;
      }
      // The rest, told to both the killed and resumed one.
      for (std::size_t left = told; left < whole.record.size(); ++left) {
        while (asked.size() <= left) {
          const std::vector<Move> batch = again.ask(window);
          REQUIRE_FALSE(batch.empty());
          asked.insert(asked.end(), batch.begin(), batch.end());
        }
        move_policy_contract::tell(again, whole.record[left]);
      }
      CHECK(asked == moves);
      REQUIRE(again.iterations().size() == whole.policy.iterations().size());
      CHECK(again.record().size() == whole.policy.record().size());
      CHECK(again.champion() == whole.policy.champion());
    }
  }
}

TEST_CASE("RooflineBudget: a champion that turns out to be a fraud is given up at the next step") {
  RooflineBudgetOptions options = three();
  options.iterations = 2;
  Stage stage(options, [](const Move& move, Outcome& outcome) {
    takes(outcome, is(move, MoveKind::root) ? 10 : is(move, MoveKind::branch) ? 2 + move.variant : 20);
    gaps(outcome, 0.9, 0.5, 0.4);
  });
  for (int i = 0; i < 8; ++i) {
    const Move move = stage.policy.ask(1).at(0);
    move_policy_contract::tell(stage.policy, stage.told(move));
    if (i != 5) continue;
    Observation<Move> fraud{Move{MoveKind::branch, {TrialId{0}}, {}, 0}, {}};
    fraud.outcome.id = TrialId{1};
    fraud.outcome.evaluation = Evaluation::failed(Verdict::cheated, "found late");
    move_policy_contract::tell(stage.policy, fraud);
  }
  REQUIRE(stage.policy.iterations().size() == 2);
  CHECK(stage.policy.iterations()[0].champion == TrialId{2});
  CHECK(stage.policy.iterations()[1].start == TrialId{2});
  for (const MethodVerdict& verdict : stage.policy.iterations()[0].verdicts)
    CHECK_FALSE(verdict.attribution.known);  // the ablations were of another kernel
}
