// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/optimizer/tuned.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/cached.hpp"
#include "kernelsearch/evaluator/function_evaluator.hpp"
#include "kernelsearch/optimizer/run_record.hpp"
#include "kernelsearch/policy/bayesian_search.hpp"
#include "kernelsearch/policy/best_of_k.hpp"
#include "kernelsearch/policy/exhaustive.hpp"
#include "kernelsearch/policy/greedy_search.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "support/approx.hpp"
#include "support/scripted_kernels.hpp"

using namespace kernelsearch;
using namespace scripted;
using kernelsearch::test::approx;

namespace {
const auto exhaustive = [](const Space& space, std::uint64_t) { return Exhaustive(space); };
}

TEST_CASE("Tuned: the outcome is the inner best, and says where it lies") {
  Tuned tuned(exhaustive, KernelLandscape{});
  const Evaluation evaluation = tuned.evaluate(kernel_with({"tiling"}), {});
  CHECK(evaluation.verdict == Verdict::ok);
  CHECK(evaluation.measurement.seconds == 50.0);
  CHECK(evaluation.tuned_key == "16,2");
  CHECK(evaluation.features.find("inner_trials") == 28.0);
}

TEST_CASE("Tuned: what was observed of the inner best is what is told: load, pairs and counters") {
  Tuned tuned(exhaustive, FunctionEvaluator([](const Candidate& candidate) {
                const double seconds = 1.0 + static_cast<double>(candidate.config.indices[0]);
                Evaluation evaluation = Evaluation::succeeded(seconds);
                evaluation.features.set("load.core", 0.1 * seconds);
                evaluation.features.set("times_parent", seconds / 2);
                evaluation.provenance = "measured at " + std::to_string(candidate.config.indices[0]);
                return evaluation;
              }));
  const Evaluation evaluation = tuned.evaluate(kernel_with({}), {});
  CHECK(evaluation.measurement.seconds == 1.0);
  CHECK(evaluation.features.find("load.core") == 0.1);
  CHECK(evaluation.features.find("times_parent") == 0.5);
  CHECK(evaluation.provenance == "measured at 0");
}

namespace {

std::string name_of(const Candidate& candidate) {
  return candidate.kernel->regions.device + "@" + candidate.kernel->space.key(candidate.config);
}

/// The landscape where two kernels can be timed in pairs too; which were is kept.
struct PairedLandscape : KernelLandscape {
  struct Asked {
    std::vector<std::pair<std::string, std::string>> pairs;
    PairOptions how;
  };
  std::shared_ptr<Asked> asked = std::make_shared<Asked>();
  [[nodiscard]] std::optional<Speedup> compare(const Candidate& candidate, const Candidate& champion,
                                               const PairOptions& how) const {
    asked->pairs.emplace_back(name_of(candidate), name_of(champion));
    asked->how = how;
    if (words_of(candidate).contains("fusion")) return std::nullopt;
    if (words_of(candidate).contains("prefetch"))
      detail::raise<ConfigError>("a candidate to compare is not ok", "prefetch", "compare others");
    return Speedup{2, {1.6, 2.5}, 12};
  }
};

}  // namespace

TEST_CASE("Tuned: the best of a child is timed in pairs beside its parent's best, where that is asked for") {
  const PairedLandscape landscape;
  const auto asked = landscape.asked;
  const auto context = [](std::uint64_t trial, std::vector<TrialId> parents = {}) {
    EvaluationContext made;
    made.trial = TrialId{trial};
    made.parents = std::move(parents);
    return made;
  };
  const auto tuned_with = [&](std::optional<PairOptions> pairs) {
    return Tuned(exhaustive, landscape, TunedOptions{.pairs = std::move(pairs)});
  };
  Tuned silent = tuned_with(std::nullopt);
  (void)silent.evaluate(kernel_with({}), context(0));
  CHECK_FALSE(
      silent.evaluate(kernel_with({"tiling"}), context(1, {TrialId{0}})).features.find("times_parent"));
  CHECK(asked->pairs.empty());

  Tuned tuned = tuned_with(PairOptions{.min_pairs = 7, .rounds = 3});
  CHECK_FALSE(tuned.evaluate(kernel_with({}), context(0)).features.find("times_parent"));
  const Evaluation child = tuned.evaluate(kernel_with({"tiling"}), context(1, {TrialId{0}}));
  REQUIRE(asked->pairs.size() == 1);  // not at each of its 28 configurations
  CHECK(asked->pairs[0] == std::pair<std::string, std::string>("tiling @16,2", "@1,2"));
  CHECK(asked->how.min_pairs == 7);
  CHECK(asked->how.rounds == 3);
  CHECK(child.features.find("times_parent") == 0.5);
  CHECK(child.features.find("times_parent.low") == 0.4);
  CHECK(child.features.find("times_parent.high") == 0.625);
  CHECK(child.tuned_key == "16,2");
  // The parent's best is the child's that was tuned, not its default.
  (void)tuned.evaluate(kernel_with({"tiling", "vectorize"}), context(2, {TrialId{1}}));
  CHECK(asked->pairs.back().second == "tiling @16,2");

  // Nothing where there is no one right parent that is known, or the run is being stopped.
  const std::size_t before = asked->pairs.size();
  (void)tuned.evaluate(kernel_with({"bug"}), context(3, {TrialId{0}}));
  (void)tuned.evaluate(kernel_with({"variant1"}), context(4, {TrialId{3}}));
  (void)tuned.evaluate(kernel_with({"variant2"}), context(5, {TrialId{0}, TrialId{1}}));
  (void)tuned.evaluate(kernel_with({"variant3"}), context(6, {TrialId{99}}));
  CHECK(asked->pairs.size() == before);
  // What a comparison cannot say takes nothing away.
  const Evaluation unsaid = tuned.evaluate(kernel_with({"fusion"}), context(7, {TrialId{0}}));
  CHECK(unsaid.verdict == Verdict::ok);
  CHECK_FALSE(unsaid.features.find("times_parent"));
  const Evaluation refused = tuned.evaluate(kernel_with({"prefetch"}), context(8, {TrialId{0}}));
  CHECK(refused.verdict == Verdict::ok);
  CHECK(refused.provenance.find("not paired with its parent") != std::string::npos);
  CHECK(asked->pairs.size() == before + 2);
  // A resumed run knows its parents' best.
  Tuned resumed = tuned_with(PairOptions{});
  const Candidate root = kernel_with({});
  resumed.remember(TrialId{0}, {root.kernel, {{root.config, Verdict::ok, 3.0}}, {}});
  CHECK(resumed.evaluate(kernel_with({"tiling"}), context(1, {TrialId{0}})).features.find("times_parent"));
  CHECK(asked->pairs.back().second == "@1,1");
}

TEST_CASE("Tuned: inner trials are reported in order and limited by both budgets") {
  Tuned tuned(exhaustive, KernelLandscape{}, TunedOptions{.max_trials = 10});
  std::vector<std::uint64_t> numbers;
  EvaluationContext context;
  context.budget = std::make_shared<TrialBudget>(14);
  context.on_inner = [&numbers](const InnerTrial& inner) { numbers.push_back(inner.number); };
  CHECK(tuned.evaluate(kernel_with({}), context).verdict == Verdict::ok);
  CHECK(numbers.size() == 10);
  CHECK(numbers.back() == 9);
  CHECK(tuned.evaluate(kernel_with({}), context).verdict == Verdict::ok);
  CHECK(numbers.size() == 14);
  const Evaluation none = tuned.evaluate(kernel_with({}), context);
  CHECK(none.verdict == Verdict::rejected);
  CHECK(none.reason == "no configuration was tried: the trial budget is spent");
}

TEST_CASE("Tuned: a kernel that is wrong everywhere is as wrong as its best configuration") {
  Tuned tuned(exhaustive, KernelLandscape{});
  const Evaluation evaluation = tuned.evaluate(kernel_with({"bug"}), {});
  CHECK(evaluation.verdict == Verdict::wrong_result);
  CHECK(evaluation.progress == 0.625);
}

TEST_CASE("Tuned: of wrong configurations the one that came furthest is told, wherever it was tried") {
  // Its first and last configurations come least far.
  Tuned tuned(exhaustive, FunctionEvaluator([](const Candidate& candidate) {
                const std::string key = candidate.kernel->space.key(candidate.config);
                const double share = key == "4,3" ? 0.75 : key == "8,2" ? 0.5 : 0.25;
                return Evaluation::failed(Verdict::wrong_result, "wrong at " + key, share);
              }));
  const Evaluation evaluation = tuned.evaluate(kernel_with({"tiling"}), {});
  CHECK(evaluation.verdict == Verdict::wrong_result);
  CHECK(evaluation.reason == "wrong at 4,3");
}

TEST_CASE("Tuned: inner trials know the best of the run where it beats their own, else their own") {
  // What an evaluator could stop early by: the best before each trial, and its time.
  struct Stopping {
    std::shared_ptr<std::vector<std::optional<double>>> known =
        std::make_shared<std::vector<std::optional<double>>>();
    Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
      known->push_back(context.incumbent);
      return Evaluation::succeeded(10.0 - static_cast<double>(candidate.config.indices[0]));
    }
  };
  const Stopping stopping;
  Tuned tuned([](const Space& space, std::uint64_t) { return Exhaustive(space); }, stopping);
  const auto least_known = [&](std::optional<double> outer) {
    stopping.known->clear();
    EvaluationContext context;
    context.incumbent = outer;
    CHECK(tuned.evaluate(kernel_with({"tiling"}), context).measurement.seconds == 4);
    REQUIRE(stopping.known->size() == 28);
    return std::pair(stopping.known->front(), stopping.known->back());
  };
  using Seen = std::pair<std::optional<double>, std::optional<double>>;
  CHECK(least_known(std::nullopt) == Seen(std::nullopt, 4.0));
  CHECK(least_known(2.0) == Seen(2.0, 2.0));  // the kernel never comes near it
  CHECK(least_known(7.5) == Seen(7.5, 4.0));  // then the kernel is the best itself
}

TEST_CASE("Tuned: over a cache, an interrupted inner search takes up where it was") {
  const auto key = [](const Candidate& c) {
    return c.kernel->regions.device + c.kernel->space.key(c.config);
  };
  auto cache = std::make_shared<MemoryCache>();
  KernelLandscape landscape;
  using Inner = Cached<KernelLandscape, decltype(key)>;
  EvaluationContext context;
  context.budget = std::make_shared<TrialBudget>(12);
  Tuned(exhaustive, Inner(landscape, key, cache)).evaluate(kernel_with({"tiling"}), context);
  CHECK(*landscape.evaluations == 12);
  const Evaluation whole =
      Tuned(exhaustive, Inner(landscape, key, cache)).evaluate(kernel_with({"tiling"}), {});
  CHECK(whole.measurement.seconds == 50.0);
  CHECK(*landscape.evaluations == 28);  // the first twelve were not measured again
}

TEST_CASE("Tuned: a resumed run has the budget that its inner searches have left") {
  struct Recorded {
    RunRecord<Candidate, Move> record;
    void on_ask(const AskEvent& event) { record.events.emplace_back(event); }
    void on_trial(const Trial<Candidate>& trial, const Move& move) {
      record.events.emplace_back(ToldEvent<Candidate, Move>{trial, move});
    }
    void on_inner(TrialId, const InnerTrial&) { ++record.inner_trials; }
  };
  const auto search = [](std::uint64_t trials) {
    return Optimizer(BestOfK({.k = 100}), ScriptedRewriter{},
                     Tuned(exhaustive, KernelLandscape{}, TunedOptions{.max_trials = 5}),
                     {.budget = std::make_shared<TrialBudget>(trials)});
  };
  Recorded first, second, whole;
  (void)search(10).run(first);
  CHECK(first.record.inner_trials == 10);
  auto resumed = search(20);
  resumed.resume(first.record);
  (void)resumed.run(second);
  (void)search(20).run(whole);
  CHECK(whole.record.inner_trials == 20);
  CHECK(second.record.inner_trials == 10);
}

namespace {

/// Keys and times of a tuning's inner trials, as the run sees them.
struct Watched {
  std::vector<std::string> keys;
  std::vector<double> seconds;

  EvaluationContext context(std::uint64_t trial, std::vector<TrialId> parents = {},
                            std::uint64_t budget = TrialBudget::unlimited) {
    EvaluationContext made;
    made.trial = TrialId{trial};
    made.parents = std::move(parents);
    made.budget = std::make_shared<TrialBudget>(budget);
    made.on_inner = [this](const InnerTrial& inner) {
      CHECK(inner.number == keys.size());
      keys.push_back(inner.key);
      seconds.push_back(inner.evaluation.measurement.seconds);
    };
    return made;
  }
};

/// A policy that proposes nothing of its own and shows what it is told.
struct Told {
  std::vector<Observation<Config>> foreign, own;
};
struct Listener {
  using Proposal = Config;
  std::shared_ptr<Told> told;
  std::vector<Config> ask(std::size_t) { return {}; }
  void tell(std::span<const Observation<Config>> batch) {
    for (const auto& one : batch) {
      CHECK_FALSE(one.outcome.origin.has_value());
      // An inner trial counts up from 0, what is known from elsewhere down from the top.
      (number(one.outcome.id) < 1000 ? told->own : told->foreign).push_back(one);
    }
  }
};

/// The landscape with several lanes; `wait` is called while one of them is used.
struct LanedLandscape : KernelLandscape {
  std::size_t count = 4;
  std::function<void()> wait = [] {};
  Evaluation evaluate(const Candidate& c, const EvaluationContext& context) {
    return evaluate_in_stages(*this, c, context);
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) const {
    wait();
    return KernelLandscape::run(std::move(staged), context);
  }
  [[nodiscard]] std::size_t lanes() const { return count; }
};

const auto random_draws = [](const Space& space, std::uint64_t seed) {
  return RandomSearch(space, {.seed = seed, .default_first = false});
};

/// One setting more than block_space() has, and one value less.
Candidate child_with_stages() {
  const Space space = SpaceBuilder()
                          .add(Tunable::integer("unroll", 1, 4))
                          .add(Tunable::power_of_two("block", 1, 32))
                          .add(Tunable::integer("stages", 1, 3, 2))
                          .build();
  return {std::make_shared<const Kernel>(Kernel{{"tiling stages", {}, {}}, space}), space.default_config()};
}

}  // namespace

TEST_CASE("Tuned: the kernel's own settings come first, then the parent's best, then the policy's") {
  Tuned tuned(exhaustive, KernelLandscape{}, TunedOptions{.carried = 3});
  Watched root, child;
  tuned.evaluate(kernel_with({"tiling"}), root.context(1));
  CHECK(root.keys.size() == 28);
  CHECK(root.keys.front() == "1,1");

  Candidate own = kernel_with({"tiling", "fusion"});
  own.config = own.kernel->space.unrank(BigCount(5));
  const std::string own_key = own.kernel->space.key(own.config);
  REQUIRE(own_key != "1,1");
  const Evaluation tuning = tuned.evaluate(own, child.context(2, {TrialId{1}}, 6));
  // 16,2 is the best of all, then 16,1 and 16,3.
  REQUIRE(child.keys.size() == 6);
  CHECK(child.keys == std::vector<std::string>{own_key, "1,1", "16,2", "16,1", "16,3", child.keys.back()});
  CHECK(std::count(child.keys.begin(), child.keys.end() - 1, child.keys.back()) == 0);
  CHECK(tuning.tuned_key == "16,2");

  Watched orphan;
  tuned.evaluate(kernel_with({"tiling", "prefetch"}), orphan.context(3, {}, 3));
  CHECK(orphan.keys != std::vector<std::string>{"1,1", "16,2", "16,1"});
}

TEST_CASE("Tuned: settings of a parent with other tunables are carried over by name") {
  Watched child;
  const Candidate with_stages = child_with_stages();
  const Space& space = with_stages.kernel->space;
  const auto told = std::make_shared<Told>();
  Tuned listening([&](const Space&, std::uint64_t) { return Listener{told}; },
                  FunctionEvaluator([](const Candidate&) { return 1.0; }),
                  TunedOptions{.max_trials = 3, .carried = 2});
  KernelTuning parent{kernel_with({"tiling"}).kernel, {}, {}};
  const Space& from = parent.kernel->space;
  from.for_each([&](const Config& config) {
    parent.points.push_back(
        {config, Verdict::ok,
         scripted_time({"tiling"}, to_number(from.value(config, 0)), to_number(from.value(config, 1)))});
  });
  listening.remember(TrialId{1}, parent);
  listening.evaluate(with_stages, child.context(2, {TrialId{1}}));
  CHECK(child.keys == std::vector<std::string>{"1,1,1", "2,16,1", "1,16,1"});
  // Blocks of 64 are no settings of the child; 1,1 and the two that it tried were measured.
  CHECK(told->foreign.size() == 28 - 4 - 3);
  for (const auto& one : told->foreign) CHECK(space.contains(one.proposal));
}

TEST_CASE("Tuned: what the parent measured is told as foreign, in proportion to the child's times") {
  const auto told = std::make_shared<Told>();
  const auto listening = [&](const Space&, std::uint64_t) { return Listener{told}; };
  Tuned tuned(listening, KernelLandscape{}, TunedOptions{.max_trials = 3, .carried = 2});
  KernelTuning parent{kernel_with({"tiling"}).kernel, {}, {}};
  const Space& space = parent.kernel->space;
  space.for_each([&](const Config& config) {
    const double block = to_number(space.value(config, 0)), unroll = to_number(space.value(config, 1));
    if (block < 64)
      parent.points.push_back({config, Verdict::ok, scripted_time({"tiling"}, block, unroll)});
    else
      parent.points.push_back({config, Verdict::launch_failed, 0.0});
  });
  tuned.remember(TrialId{7}, parent);
  Watched child;
  const Evaluation best =
      tuned.evaluate(kernel_with({"tiling", "vectorize"}), child.context(8, {TrialId{7}}));
  CHECK(child.keys == std::vector<std::string>{"1,1", "16,2", "16,1"});
  CHECK(told->own.size() == 3);
  REQUIRE(told->foreign.size() == 28 - 3);
  for (std::size_t i = 0; i < told->foreign.size(); ++i) {
    const Observation<Config>& one = told->foreign[i];
    const double block = to_number(space.value(one.proposal, 0)),
                 unroll = to_number(space.value(one.proposal, 1));
    CHECK((one.outcome.evaluation.verdict == Verdict::launch_failed) == (block == 64));
    if (block == 64) continue;
    CHECK(one.outcome.objective == approx(0.6 * scripted_time({"tiling"}, block, unroll)));
    CHECK(one.outcome.objective >= best.measurement.seconds);
    // The best come last.
    if (i > 0)
      CHECK((!told->foreign[i - 1].outcome.ok() ||
             told->foreign[i - 1].outcome.objective >= one.outcome.objective));
  }
}

TEST_CASE("Tuned: what was not measured is not told as better than the best that was") {
  const auto told = std::make_shared<Told>();
  KernelTuning parent{kernel_with({"tiling"}).kernel, {}, {}};
  const Space& space = parent.kernel->space;
  space.for_each([&](const Config& config) {
    parent.points.push_back(
        {config, Verdict::ok,
         scripted_time({"tiling"}, to_number(space.value(config, 0)), to_number(space.value(config, 1)))});
  });
  // The child's default is right, what was best for its parent is not.
  Tuned tuned([&](const Space&, std::uint64_t) { return Listener{told}; },
              FunctionEvaluator([](const Candidate& c) {
                return c.config == c.kernel->space.default_config()
                           ? Evaluation::succeeded(7.0)
                           : Evaluation::failed(Verdict::launch_failed, "no");
              }),
              TunedOptions{.carried = 2});
  tuned.remember(TrialId{1}, parent);
  Watched child;
  tuned.evaluate(kernel_with({"tiling", "fusion"}), child.context(2, {TrialId{1}}));
  REQUIRE(told->foreign.size() == 28 - 3);
  CHECK(told->foreign.back().outcome.objective == 7.0);
  for (const auto& one : told->foreign) CHECK(one.outcome.objective >= 7.0);
}

namespace {

/// Every configuration of the scripted space with the time that a kernel of these words takes; those with
/// blocks of 64 failed.
KernelTuning whole_tuning(const std::set<std::string>& words) {
  KernelTuning tuning{kernel_with(words).kernel, {}, {}};
  const Space& space = tuning.kernel->space;
  space.for_each([&](const Config& config) {
    const double block = to_number(space.value(config, 0)), unroll = to_number(space.value(config, 1));
    if (block < 64)
      tuning.points.push_back({config, Verdict::ok, scripted_time(words, block, unroll)});
    else
      tuning.points.push_back({config, Verdict::launch_failed, 0.0});
  });
  return tuning;
}

/// Makes Listeners, and shows what they were to learn from.
struct LearningMaker {
  std::shared_ptr<Told> told = std::make_shared<Told>();
  std::shared_ptr<std::vector<EarlierRun>> earlier = std::make_shared<std::vector<EarlierRun>>();
  Listener operator()(const Space&, std::uint64_t, std::vector<EarlierRun> runs) const {
    *earlier = std::move(runs);
    return Listener{told};
  }
};

}  // namespace

TEST_CASE(
    "Tuned: a policy that learns is made with what the parent's tuning found, and is not told it again") {
  const LearningMaker make;
  Tuned tuned(make, KernelLandscape{}, TunedOptions{.max_trials = 5, .carried = 2});
  tuned.remember(TrialId{7}, whole_tuning({"tiling"}));
  Watched child;
  tuned.evaluate(kernel_with({"tiling", "vectorize"}), child.context(8, {TrialId{7}}));
  REQUIRE(make.earlier->size() == 1);
  const std::vector<EarlierOutcome>& outcomes = make.earlier->front().outcomes;
  REQUIRE(outcomes.size() == 28);
  const Space space = block_space();
  CHECK(space.key(outcomes.front().config) == "16,2");
  for (const EarlierOutcome& outcome : outcomes) {
    const double block = to_number(space.value(outcome.config, 0)),
                 unroll = to_number(space.value(outcome.config, 1));
    CHECK(std::isinf(outcome.objective) == (block == 64));
    if (block < 64) CHECK(outcome.objective == scripted_time({"tiling"}, block, unroll));  // the parent's own
  }
  CHECK(make.told->foreign.empty());
  CHECK(make.told->own.size() == 5);
  // What the policy leaves is taken from the parent's next best.
  CHECK(child.keys == std::vector<std::string>{"1,1", "16,2", "16,1", "16,3", child.keys.back()});
}

TEST_CASE("Tuned: what was measured of the same text is told also to a policy that learns") {
  const LearningMaker make;
  const auto known = std::make_shared<const KernelTuning>(whole_tuning({"tiling", "fusion"}));
  Tuned tuned(make, KernelLandscape{}, TunedOptions{.max_trials = 3, .carried = 1},
              [&known](const Kernel& kernel) {
                std::vector<std::shared_ptr<const KernelTuning>> found;
                if (kernel.regions.device == known->kernel->regions.device) found.push_back(known);
                return found;
              });
  tuned.remember(TrialId{7}, whole_tuning({"tiling"}));
  Watched child;
  tuned.evaluate(kernel_with({"tiling", "fusion"}), child.context(8, {TrialId{7}}));
  CHECK(make.earlier->size() == 1);            // the parent's
  CHECK(make.told->foreign.size() == 28 - 2);  // the default and the best of both are the child's own
}

TEST_CASE("Tuned: a tuning with fewer than eight right trials is told, for no model can be made of it") {
  const LearningMaker make;
  KernelTuning parent = whole_tuning({"tiling"});
  parent.points.resize(7);
  Tuned tuned(make, KernelLandscape{}, TunedOptions{.max_trials = 2, .carried = 1});
  tuned.remember(TrialId{7}, parent);
  Watched child;
  tuned.evaluate(kernel_with({"tiling", "fusion"}), child.context(8, {TrialId{7}}));
  CHECK(make.earlier->empty());
  CHECK(make.told->foreign.size() == 7 - 2);
}

TEST_CASE("Tuned: Bayesian search over a child goes on from its parent's model") {
  SpaceBuilder builder;
  for (char name = 'a'; name <= 'd'; ++name) builder.add(Tunable::integer(std::string(1, name), 1, 7));
  const Space space = builder.build();
  // A valley whose bottom moves by a step where the text says so; everything is faster then.
  const auto time_of = [&space](const Candidate& candidate) {
    const bool child = candidate.kernel->regions.device == "child";
    double sum = 0;
    for (std::size_t i = 0; i < space.size(); ++i) {
      const double bottom = 3.0 + static_cast<double>(i) + (child && i == 2 ? 1.0 : 0.0);
      sum += std::pow(to_number(space.value(candidate.config, i)) - bottom, 2);
    }
    return (child ? 0.7 : 1.0) * std::exp(0.1 * sum);
  };
  const auto kernel = [&space](const char* text) {
    return Candidate{std::make_shared<const Kernel>(Kernel{{text, {}, {}}, space}), space.default_config()};
  };
  const auto make = [](const Space& of, std::uint64_t seed, std::vector<EarlierRun> earlier) {
    return BayesianSearch(of, {.seed = seed, .earlier = std::move(earlier)});
  };
  std::size_t found = 0, found_alone = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const TunedOptions options{.max_trials = 60, .seed = seed};
    Tuned family(make, FunctionEvaluator(time_of), options);
    Tuned alone(make, FunctionEvaluator(time_of), options);
    Watched parent, child, orphan;
    family.evaluate(kernel("parent"), parent.context(1));
    found += family.evaluate(kernel("child"), child.context(2, {TrialId{1}}, 12)).measurement.seconds == 0.7;
    found_alone += alone.evaluate(kernel("child"), orphan.context(2, {}, 12)).measurement.seconds == 0.7;
  }
  CHECK(found == 6);
  CHECK(found_alone <= 1);
}

TEST_CASE("Tuned: a parent that was never right tells its child nothing") {
  const auto told = std::make_shared<Told>();
  Tuned tuned([&](const Space&, std::uint64_t) { return Listener{told}; }, KernelLandscape{});
  KernelTuning parent{kernel_with({"bug"}).kernel, {}, {}};
  parent.kernel->space.for_each([&](const Config& config) {
    parent.points.push_back({config, Verdict::wrong_result, 0.0});
  });
  tuned.remember(TrialId{1}, parent);
  Watched child;
  CHECK(tuned.evaluate(kernel_with({}), child.context(2, {TrialId{1}})).verdict == Verdict::ok);
  CHECK(child.keys == std::vector<std::string>{"1,1"});
  CHECK(told->foreign.empty());
}

TEST_CASE("Tuned: a kernel that is never right is given up after 16 trials, and not searched again") {
  for (const std::size_t builders : {0, 4}) {
    CAPTURE(builders);
    LanedLandscape landscape;
    landscape.count = builders == 0 ? 1 : 4;
    Tuned tuned(exhaustive, landscape, TunedOptions{.builders = builders});
    Watched first, again, other;
    const Evaluation failed = tuned.evaluate(kernel_with({"bug"}), first.context(1));
    CHECK(failed.verdict == Verdict::wrong_result);
    CHECK(failed.features.find("inner_trials") == 16.0);
    CHECK(first.keys.size() == 16);
    const Evaluation repeated = tuned.evaluate(kernel_with({"bug"}), again.context(2));
    CHECK(repeated.verdict == Verdict::wrong_result);
    CHECK(repeated.reason == failed.reason);
    CHECK(again.keys.size() == 1);
    CHECK(*landscape.evaluations == 16);
    // Each question costs a trial, so that no policy asks for ever.
    CHECK(tuned.evaluate(kernel_with({"bug"}), other.context(3, {}, 0)).verdict == Verdict::rejected);
    CHECK(tuned.evaluate(kernel_with({"bug", "tiling"}), other.context(4)).verdict == Verdict::wrong_result);
    CHECK(other.keys.size() == 16);
  }
  LanedLandscape all;
  Tuned patient(exhaustive, all, TunedOptions{.hopeless = 0});
  patient.evaluate(kernel_with({"bug"}), {});
  CHECK(*all.evaluations == 28);
}

TEST_CASE("Tuned: a search that the budget cut short is no reason to give a kernel up") {
  Tuned tuned(exhaustive, KernelLandscape{});
  Watched cut, whole;
  tuned.evaluate(kernel_with({"bug"}), cut.context(1, {}, 5));
  CHECK(cut.keys.size() == 5);
  tuned.evaluate(kernel_with({"bug"}), whole.context(2));
  CHECK(whole.keys.size() == 16);
}

TEST_CASE("Tuned: one right trial among the first keeps the search going") {
  int calls = 0;
  Tuned tuned(exhaustive, FunctionEvaluator([&calls](const Candidate&) {
                return ++calls == 16 ? Evaluation::succeeded(1.0)
                                     : Evaluation::failed(Verdict::wrong_result, "no");
              }));
  CHECK(tuned.evaluate(kernel_with({}), {}).verdict == Verdict::ok);
  CHECK(calls == 28);
}

TEST_CASE("Tuned: inner trials use all lanes at once") {
  struct Meeting {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t inside = 0, most = 0;
  } meeting;
  LanedLandscape landscape;
  landscape.wait = [&meeting] {
    std::unique_lock lock(meeting.mutex);
    meeting.most = std::max(meeting.most, ++meeting.inside);
    meeting.changed.notify_all();
    // The first four wait for each other. Where they cannot meet, this gives up.
    meeting.changed.wait_for(lock, std::chrono::seconds(5), [&] { return meeting.most == 4; });
    if (meeting.most < 4) meeting.most = 100;
    --meeting.inside;
  };
  Tuned tuned(exhaustive, landscape);
  const Evaluation evaluation = tuned.evaluate(kernel_with({"tiling"}), {});
  CHECK(meeting.most == 4);
  CHECK(evaluation.features.find("inner_trials") == 28.0);
  CHECK(evaluation.tuned_key == "16,2");
}

TEST_CASE("Tuned: with several lanes, what is tried depends on no delay, and budgets are kept") {
  std::vector<std::string> keys;
  for (const unsigned delay : {0U, 1U, 7U}) {
    LanedLandscape landscape;
    auto calls = std::make_shared<std::atomic<unsigned>>(0);
    landscape.wait = [calls, delay] {
      std::this_thread::sleep_for(std::chrono::microseconds(300 * ((++*calls * delay) % 5)));
    };
    Tuned tuned([](const Space& space, std::uint64_t seed) { return GreedySearch(space, {.seed = seed}); },
                landscape, TunedOptions{.max_trials = 20, .builders = 3});
    Watched watched;
    EvaluationContext context = watched.context(1, {}, 30);
    tuned.evaluate(kernel_with({"tiling"}), context);
    CHECK(watched.keys.size() == 20);
    watched.keys.push_back("child");
    context.on_inner = [&watched](const InnerTrial& inner) { watched.keys.push_back(inner.key); };
    context.trial = TrialId{2};
    context.parents = {TrialId{1}};
    tuned.evaluate(kernel_with({"tiling", "fusion"}), context);
    CHECK(watched.keys.size() == 31);
    CHECK(context.budget->remaining() == 0);
    CHECK(*landscape.evaluations == 30);
    if (delay == 0) keys = watched.keys;
    CHECK(watched.keys == keys);
  }
}

TEST_CASE("Tuned: the identical kernel retuned is never worse than its parent") {
  std::size_t worse_alone = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Tuned tuned(random_draws, KernelLandscape{}, TunedOptions{.max_trials = 8, .seed = seed});
    Watched parent, child, alone;
    const double before = tuned.evaluate(kernel_with({"tiling"}), parent.context(1)).measurement.seconds;
    // "prefetch" changes the text and nothing else.
    const Candidate same = kernel_with({"tiling", "prefetch"});
    CHECK(tuned.evaluate(same, child.context(2, {TrialId{1}})).measurement.seconds <= before);
    Tuned lone(random_draws, KernelLandscape{}, TunedOptions{.max_trials = 8, .seed = seed});
    worse_alone += lone.evaluate(same, alone.context(2)).measurement.seconds > before ? 1U : 0U;
  }
  CHECK(worse_alone >= 5);
}

TEST_CASE("Tuned: a resumed search that remembers tunes a child as the first part would have") {
  Tuned whole(random_draws, KernelLandscape{}, TunedOptions{.max_trials = 12});
  Watched root, child, resumed;
  const Candidate kernel = kernel_with({"tiling"});
  const Evaluation outcome = whole.evaluate(kernel, root.context(1));
  whole.evaluate(kernel_with({"tiling", "fusion"}), child.context(2, {TrialId{1}}));
  KernelTuning known{kernel.kernel, {}, outcome};
  for (std::size_t i = 0; i < root.keys.size(); ++i)
    kernel.kernel->space.for_each([&](const Config& config) {
      if (kernel.kernel->space.key(config) == root.keys[i])
        known.points.push_back({config, Verdict::ok, root.seconds[i]});
    });
  Tuned second(random_draws, KernelLandscape{}, TunedOptions{.max_trials = 12});
  second.remember(TrialId{1}, known);
  second.evaluate(kernel_with({"tiling", "fusion"}), resumed.context(2, {TrialId{1}}));
  CHECK(resumed.keys == child.keys);
}

TEST_CASE("Tuned: tunings from elsewhere are asked for by text, the kernel's and its parents'") {
  std::vector<std::string> asked;
  const TuningLookup lookup = [&asked](const Kernel& kernel) {
    asked.push_back(kernel.regions.device);
    std::vector<std::shared_ptr<const KernelTuning>> found;
    if (kernel.regions.device == "tiling ") {
      const Candidate known = kernel_with({"tiling"});
      const std::vector<Value> best{std::int64_t{16}, std::int64_t{2}};
      found.push_back(std::make_shared<const KernelTuning>(
          KernelTuning{known.kernel, {{*known.kernel->space.config_of(best), Verdict::ok, 50.0}}, {}}));
    }
    return found;
  };
  Tuned tuned(random_draws, KernelLandscape{}, TunedOptions{.max_trials = 3}, lookup);
  Watched root, child;
  tuned.evaluate(kernel_with({"tiling"}), root.context(1));
  CHECK(asked == std::vector<std::string>{"tiling "});
  CHECK(root.keys[0] == "1,1");
  CHECK(root.keys[1] == "16,2");
  asked.clear();
  tuned.evaluate(kernel_with({"tiling", "fusion"}), child.context(2, {TrialId{1}}));
  CHECK(asked == std::vector<std::string>{"fusion tiling ", "tiling "});
  CHECK(child.keys[1] == "16,2");
}
