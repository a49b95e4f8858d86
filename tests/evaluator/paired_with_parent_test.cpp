// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/paired_with_parent.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "kernelsearch/evaluator/cached.hpp"
#include "kernelsearch/evaluator/pool.hpp"
#include "kernelsearch/evaluator/profiled.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/attribution.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

/// What the fakes were asked; candidates are the seconds they take, in tenths, and negative ones fail.
struct Asked {
  std::atomic<int> compared{0};
  std::atomic<int> judged{0};
  std::atomic<int> measuring{0};
  std::atomic<bool> together{false};
  std::mutex mutex;
  PairOptions pairs;  ///< under the mutex
};

struct Timed {
  std::shared_ptr<Asked> asked = std::make_shared<Asked>();

  Evaluation evaluate(int x, const EvaluationContext&) const {
    ++asked->judged;
    if (x < 0) return Evaluation::failed(Verdict::wrong_result, "negative");
    return Evaluation::succeeded(x / 10.0);
  }
  // 666 is a parent that was fine once and is not any more
  Speedup compare(int candidate, int champion, const PairOptions& pairs) const {
    ++asked->compared;
    {
      const std::lock_guard lock(asked->mutex);
      asked->pairs = pairs;
    }
    if (champion == 666) detail::raise<ConfigError>("a candidate to compare is not ok", "666", "do not");
    const double ratio = static_cast<double>(champion) / candidate;
    return {ratio, {ratio / 1.01, ratio * 1.02}, 30};
  }
};

struct Staging : Timed {
  struct Artifact {
    int x;
  };
  using Timed::evaluate;
  Staged<Artifact> build(int x, const EvaluationContext&) const {
    if (x < 0) return {Evaluation::failed(Verdict::build_failed, "negative"), std::nullopt};
    return {{}, Artifact{x}};
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) const {
    if (++asked->measuring > 1) asked->together = true;
    Evaluation evaluation = evaluate(staged.artifact->x, context);
    --asked->measuring;
    return evaluation;
  }
  [[nodiscard]] std::size_t lanes() const { return 1; }
};

/// The same, but it cannot always say.
struct Silent : Timed {
  std::optional<Speedup> compare(int, int, const PairOptions&) const { return std::nullopt; }
};

EvaluationContext context_of(std::uint64_t trial, std::vector<TrialId> parents = {}) {
  EvaluationContext context;
  context.trial = TrialId{trial};
  context.parents = std::move(parents);
  return context;
}

bool paired(const Evaluation& evaluation) {
  return evaluation.features.find("times_parent").has_value();
}

struct Keys {
  std::string operator()(int x) const { return std::to_string(x); }
};

}  // namespace

TEST_CASE("PairedWithParent: times of a right child of one known parent") {
  Timed timed;
  const auto asked = timed.asked;
  PairedWithParent<Timed, int> judge(timed);
  CHECK(!paired(judge.evaluate(20, context_of(1))));  // no parent
  const Evaluation child = judge.evaluate(26, context_of(2, {TrialId{1}}));
  CHECK(child.verdict == Verdict::ok);
  CHECK(*child.features.find("times_parent") == approx(1.3));
  CHECK(*child.features.find("times_parent.low") == approx(1.3 / 1.02));
  CHECK(*child.features.find("times_parent.high") == approx(1.3 * 1.01));
  CHECK(child.provenance.empty());
  CHECK(asked->pairs.precision <= 0.005);  // its own, finer than a search's
  // what the policy reads is what was written
  Outcome parent, ablated;
  parent.id = TrialId{1};
  parent.evaluation = Evaluation::succeeded(2.0);
  ablated.parents = {TrialId{1}};
  ablated.evaluation = child;
  CHECK(attribution_of(parent, ablated).paired);
  CHECK(attribution_of(parent, ablated).effect == approx(0.3));
}

TEST_CASE("PairedWithParent: no pairs without one known, right parent, nor when nobody asks for them") {
  Timed timed;
  const auto asked = timed.asked;
  PairedWithParent<Timed, int> judge(
      timed, {.which = [](const EvaluationContext& context) { return context.trial != TrialId{9}; }});
  (void)judge.evaluate(20, context_of(1));
  (void)judge.evaluate(-1, context_of(2));
  CHECK(!paired(judge.evaluate(26, context_of(3, {TrialId{1}, TrialId{2}}))));
  CHECK(!paired(judge.evaluate(26, context_of(4, {TrialId{2}}))));   // it failed
  CHECK(!paired(judge.evaluate(26, context_of(5, {TrialId{77}}))));  // never seen
  CHECK(!paired(judge.evaluate(-3, context_of(6, {TrialId{1}}))));   // the child failed
  CHECK(!paired(judge.evaluate(26, context_of(9, {TrialId{1}}))));
  std::stop_source stop;
  stop.request_stop();
  EvaluationContext stopped = context_of(7, {TrialId{1}});
  stopped.stop = stop.get_token();
  CHECK(!paired(judge.evaluate(26, stopped)));
  CHECK(asked->compared == 0);
  CHECK(paired(judge.evaluate(26, context_of(8, {TrialId{3}}))));
  CHECK(!paired(PairedWithParent<Silent, int>({}, {}, [](TrialId) {
                  return 20;
                }).evaluate(26, context_of(2, {TrialId{1}}))));
}

TEST_CASE("PairedWithParent: a comparison that fails leaves the verdict and says why") {
  PairedWithParent<Timed, int> judge({});
  (void)judge.evaluate(666, context_of(1));
  const Evaluation child = judge.evaluate(26, context_of(2, {TrialId{1}}));
  CHECK(child.verdict == Verdict::ok);
  CHECK(child.measurement.seconds == approx(2.6));
  CHECK(!paired(child));
  CHECK(child.provenance.find("not paired with its parent") != std::string::npos);
  CHECK(child.provenance.find("666") != std::string::npos);
}

TEST_CASE("PairedWithParent: parents of an earlier part of the run are looked up") {
  const std::map<TrialId, int> log{{TrialId{4}, 10}};
  PairedWithParent<Timed, int> judge({}, {}, [&log](TrialId id) -> std::optional<int> {
    const auto found = log.find(id);
    return found == log.end() ? std::nullopt : std::optional(found->second);
  });
  CHECK(judge.evaluate(20, context_of(9, {TrialId{4}})).features.find("times_parent") == approx(2.0));
  CHECK(!paired(judge.evaluate(20, context_of(10, {TrialId{5}}))));
}

TEST_CASE("PairedWithParent: in phases, and what a cache knows is paired when it is its turn to measure") {
  using Inner = Cached<Staging, Keys>;
  using Judge = PairedWithParent<Inner, int>;
  static_assert(StagedEvaluator<Judge, int>);
  Staging staging;
  const auto asked = staging.asked;
  Judge judge(Inner(staging, {}));
  const auto judged = [&judge](int x, const EvaluationContext& context) {
    auto staged = judge.build(x, context);
    REQUIRE(staged.artifact);
    return judge.run(std::move(staged), context);
  };
  CHECK(judge.lanes() == 1);
  (void)judged(20, context_of(0));
  (void)judged(40, context_of(1));
  CHECK(judged(10, context_of(2, {TrialId{0}})).features.find("times_parent") == approx(0.5));
  CHECK(asked->judged == 3);
  // the same kernel with another parent: judged from the cache, paired anew
  CHECK(judge.build(10, context_of(3, {TrialId{1}})).artifact);
  CHECK(asked->compared == 1);
  CHECK(judged(10, context_of(3, {TrialId{1}})).features.find("times_parent") == approx(0.25));
  CHECK(asked->judged == 3);
  CHECK(asked->compared == 2);
  const auto failed = judge.build(-1, context_of(4, {TrialId{0}}));
  CHECK(!failed.artifact);
  CHECK(failed.evaluation.verdict == Verdict::build_failed);
}

TEST_CASE("PairedWithParent: decorators and pools hand comparisons on") {
  struct Nothing {
    Features profile(int) { return {}; }
  };
  using Judge = PairedWithParent<Profiled<Pool<Staging>, int, Nothing>, int>;
  static_assert(StagedEvaluator<Judge, int>);
  static_assert(PairingEvaluator<Judge, int>);
  std::vector<Staging> members(2);
  Judge judge(Profiled<Pool<Staging>, int, Nothing>(Pool<Staging>(std::move(members)), {}));
  CHECK(judge.lanes() == 2);
  (void)judge.evaluate(20, context_of(0));
  CHECK(judge.evaluate(10, context_of(1, {TrialId{0}})).features.find("times_parent") == approx(0.5));
  CHECK(judge.compare(10, 30, {}).ratio == approx(3.0));
}

TEST_CASE("PairedWithParent: from several threads at once") {
  PairedWithParent<Staging, int> judge({});
  (void)judge.evaluate(10, context_of(0));
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < 200; ++i) {
          const std::uint64_t id = 1 + 4 * i + t;
          const auto parent = TrialId{i == 0 ? 0 : id - 4};
          const Evaluation e = judge.evaluate(static_cast<int>(10 + i + 1), context_of(id, {parent}));
          if (e.features.find("times_parent") ==
              approx((10.0 + static_cast<double>(i) + 1) / (10.0 + static_cast<double>(i))))
            ++right;
        }
      });
  }
  CHECK(right == 800);
}

namespace {

/// A root, three children of it, then a grandchild.
struct Family {
  using Proposal = Move;
  std::size_t asked = 0;
  std::vector<Observation<Move>> told;
  std::vector<Move> ask(std::size_t n) {
    std::vector<Move> moves;
    for (; moves.size() < n && asked < 5; ++asked) {
      if (asked == 1 && told.empty()) break;
      if (asked == 4 && told.size() < 4) break;
      Move move;
      if (asked > 0) move = {MoveKind::ablate, {TrialId{asked == 4 ? 2u : 0u}}, {}, 0};
      moves.push_back(move);
    }
    return moves;
  }
  void tell(std::span<const Observation<Move>> batch) { told.insert(told.end(), batch.begin(), batch.end()); }
};

struct Writing {
  using Candidate = int;
  Generation<int> generate(const Move& move, const History<int>& history) const {
    return Generation<int>::one(move.parents.empty() ? 10 : 11 + static_cast<int>(history.size()));
  }
};

}  // namespace

TEST_CASE("PairedWithParent: in a run the loop tells who the parents are") {
  for (const std::size_t in_flight : {1, 3}) {
    Optimizer search{Family{},
                     Writing{},
                     PairedWithParent<Staging, int>({}),
                     {.in_flight = in_flight, .build_threads = 2}};
    CHECK(search.run().trials == 5);
    CHECK(!paired(search.trials()[0].outcome.evaluation));
    for (std::size_t t = 1; t < 5; ++t) {
      const auto& outcome = search.trials()[t].outcome;
      const auto parent = static_cast<std::size_t>(number(outcome.parents.front()));
      CHECK(outcome.evaluation.features.find("times_parent") ==
            approx(static_cast<double>(*search.trials()[t].candidate) /
                   static_cast<double>(*search.trials()[parent].candidate)));
    }
  }
}
