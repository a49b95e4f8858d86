// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/tree_dot.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "kernelsearch/report/export.hpp"
#include "kernelsearch/store/codec.hpp"
#include "support/stored_run.hpp"

using namespace kernelsearch;

namespace {

struct StoredTree {
  StoredTree() {
    run = store.begin_run({.name = "tree", .problem = "p", .policy = "uct"});
    add(Move{}, Evaluation::succeeded(2e-3));
    add({MoveKind::rewrite, {TrialId{0}}, {"tile"}}, Evaluation::succeeded(1e-3));
    add({MoveKind::rewrite, {TrialId{0}}, {"say \"hi\""}}, Evaluation::failed(Verdict::wrong_result, "no"));
    add({MoveKind::debug, {TrialId{2}}, {}}, Evaluation::failed(Verdict::not_generated, "prose"));
    add({MoveKind::recombine, {TrialId{1}, TrialId{2}}, {}}, Evaluation::succeeded(3e-3));
  }
  void add(const Move& move, Evaluation evaluation) {
    StoredTrial trial;
    trial.point = PointCodec<Move>::encode(move);
    trial.outcome.id = TrialId{next};
    trial.outcome.origin = Origin{ProposalId{next++}, 0, 1};
    trial.outcome.parents = move.parents;
    trial.outcome.evaluation = std::move(evaluation);
    if (trial.outcome.ok()) trial.outcome.objective = trial.outcome.evaluation.measurement.seconds;
    store.add_trial(run, {}, trial);
  }
  TemporaryFolder folder;
  RunStore store{folder / "runs.db"};
  RunId run{};
  std::uint64_t next = 0;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("tree_dot: a stored run of moves is a tree again") {
  const StoredTree stored;
  const SearchTree tree = load_tree(stored.store, stored.run);
  REQUIRE(tree.size() == 5);
  CHECK(tree.parents(4) == std::vector<std::size_t>{1, 2});
  CHECK(tree.node(1).move.strategy() == "tile");
  CHECK(tree.best() == 1);
  CHECK_FALSE(tree.node(3).generated());
}

TEST_CASE("tree_dot: nodes, edges and what became of them are drawn") {
  const StoredTree stored;
  std::ostringstream out;
  export_run(stored.store, stored.run, ExportFormat::dot, out);
  const std::string dot = out.str();
  CAPTURE(dot);
  CHECK(dot.rfind("digraph", 0) == 0);
  CHECK(has(dot, "0->1"));
  CHECK(has(dot, "2->4"));
  CHECK(has(dot, "\"tile\", penwidth=3"));
  CHECK(has(dot, "\"say \\\"hi\\\"\""));
  CHECK(has(dot, "wrong_result\", color=red"));
  CHECK(has(dot, "not_generated\", style=dashed"));
  CHECK(has(dot, "label=\"debug\""));
  CHECK(has(dot, "#1\\n1"));  // in some unit
}

TEST_CASE("tree_dot: the trials of a run over a space stand alone under their values") {
  const StoredRun stored;
  const SearchTree tree = load_tree(stored.store, stored.run);
  CHECK(tree.size() == 4);
  std::ostringstream out;
  write_dot(tree, out);
  CHECK_FALSE(has(out.str(), "->"));
  CHECK(has(out.str(), stored.store.trial(stored.run, TrialId{1})->candidate->key));
}
