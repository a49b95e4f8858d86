// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/learning.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/store/json.hpp"
#include "support/approx.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

struct Said : RunObserver {
  void on_message(std::string_view text) override { (all += text) += "\n"; }
  std::string all;
};

/// A store with ended runs over moves.
struct MovesKept {
  RunId run(const std::string& problem, const std::string& backend) {
    return store.begin_run({.name = problem,
                            .problem = problem,
                            .problem_digest = "d",
                            .policy = "kernelband",
                            .generator = "Repaired<HierarchicalUcb>, LlmRewriter, E",
                            .evaluator = backend});
  }
  void add(RunId run, std::uint64_t id, Move move, Evaluation evaluation, double load = 0) {
    StoredTrial trial;
    evaluation.features.set("load", load);
    trial.point = to_json_text(move);
    trial.outcome.id = TrialId{id};
    trial.outcome.parents = move.parents;
    trial.outcome.evaluation = std::move(evaluation);
    if (trial.outcome.ok()) trial.outcome.objective = trial.outcome.evaluation.measurement.seconds;
    store.add_trial(run, {}, trial, std::nullopt);
  }
  static Move rewrite(std::uint64_t parent, std::vector<std::string> strategies) {
    return {MoveKind::rewrite, {TrialId{parent}}, std::move(strategies)};
  }

  TemporaryFolder folder;
  RunStore store{folder / "runs.db"};
};

}  // namespace

TEST_CASE("learning: the moves of earlier runs are pairs of a kernel's features and a strategy's reward") {
  MovesKept kept;
  const RunId run = kept.run("p", "host");
  kept.add(run, 0, {}, Evaluation::succeeded(10), 70);
  kept.add(run, 1, MovesKept::rewrite(0, {"tiling"}), Evaluation::succeeded(8), 30);
  kept.add(run, 2, MovesKept::rewrite(1, {"fusion"}), Evaluation::failed(Verdict::wrong_result, "no"));
  // None of these says what a strategy is worth on a right kernel.
  kept.add(run, 3, {MoveKind::debug, {TrialId{2}}, {"fusion"}}, Evaluation::succeeded(7));
  kept.add(run, 4, MovesKept::rewrite(2, {"tiling"}), Evaluation::succeeded(9));
  kept.add(run, 5, MovesKept::rewrite(0, {"a", "b"}), Evaluation::succeeded(9));
  kept.add(run, 6, MovesKept::rewrite(0, {}), Evaluation::succeeded(9));
  kept.add(run, 7, MovesKept::rewrite(0, {"packing"}), Evaluation::failed(Verdict::not_generated, "prose"));
  kept.add(run, 8, MovesKept::rewrite(0, {"packing"}), Evaluation::failed(Verdict::not_applicable, "no"));
  kept.store.end_run(run, "", 1);
  const std::string file = kept.store.file().string();

  Said said;
  const std::vector<MoveExample> examples = detail::earlier_moves({file + ":1"}, said);
  REQUIRE(examples.size() == 2);
  CHECK(examples[0].strategy == "tiling");
  CHECK(examples[0].features.find("load") == 70.0);  // of the kernel that was rewritten
  CHECK(examples[0].reward == approx(0.2));
  CHECK(examples[1].strategy == "fusion");
  CHECK(examples[1].features.find("load") == 30.0);
  CHECK(examples[1].reward == -1.0);
  CHECK(said.all == "learns from 2 moves of 1 run\n");

  // Which runs: ended ones over moves, of the backend, and of the problem where it is named.
  kept.store.end_run(kept.run("p", "host"), "", 1);  // without a trial
  const RunId other = kept.run("q", "host");
  kept.add(other, 0, {}, Evaluation::succeeded(10));
  kept.add(other, 1, MovesKept::rewrite(0, {"tiling"}), Evaluation::succeeded(8));
  kept.store.end_run(other, "", 1);
  const RunId device = kept.run("p", "cuda");
  kept.add(device, 0, {}, Evaluation::succeeded(10));
  kept.add(device, 1, MovesKept::rewrite(0, {"tiling"}), Evaluation::succeeded(8));
  kept.store.end_run(device, "", 1);
  using Sources = std::vector<std::string>;
  CHECK(detail::move_runs_of(kept.store, "p", "host") == Sources{file + ":1"});
  CHECK(detail::move_runs_of(kept.store, "", "host") == Sources{file + ":3", file + ":1"});
  CHECK(detail::move_runs_of(kept.store, "p", "cuda") == Sources{file + ":4"});
  CHECK(detail::each_move_source({file + ":1", file}, "host") == Sources{file + ":1", file + ":3"});
}

TEST_CASE("learning: a source of moves is a store") {
  MovesKept kept;
  Said said;
  for (const char* source : {"none.json", "none.db:1", ":1"})
    CHECK_THROWS_WITH_AS((void)detail::each_move_source({source}, "host"),
                         doctest::Contains("name a store, or STORE:RUN"), ConfigError);
  CHECK_THROWS_WITH_AS((void)detail::earlier_moves({kept.store.file().string() + ":9"}, said),
                       doctest::Contains("no such run"), ConfigError);
  CHECK(said.all.empty());
}
