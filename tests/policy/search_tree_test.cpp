// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/search_tree.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

using namespace kernelsearch;

namespace {

Observation<Move> tree_trial(std::uint64_t id, std::vector<std::uint64_t> parents, double seconds) {
  Move move{parents.empty() ? MoveKind::root : MoveKind::rewrite, {}, {"tile"}};
  for (const std::uint64_t parent : parents) move.parents.push_back(TrialId{parent});
  Observation<Move> observation{move, {}};
  observation.outcome.id = TrialId{id};
  observation.outcome.origin = Origin{ProposalId{id}, 0, 1};
  observation.outcome.parents = move.parents;
  observation.outcome.objective = seconds;
  observation.outcome.evaluation = Evaluation::succeeded(seconds);
  observation.outcome.evaluation.phases.build = 2.5;
  observation.outcome.evaluation.features.set("registers", 40);
  return observation;
}

using Nodes = std::vector<std::size_t>;

}  // namespace

TEST_CASE("SearchTree: joins children to their parents, two of them where a move has two") {
  SearchTree tree;
  CHECK(tree.record(tree_trial(0, {}, 4.0)).fresh);
  tree.record(tree_trial(5, {0}, 2.0));
  tree.record(tree_trial(3, {0}, 3.0));
  tree.record(tree_trial(9, {3, 5}, 1.0));
  REQUIRE(tree.size() == 4);
  CHECK(tree.find(TrialId{3}) == 2);
  CHECK_FALSE(tree.find(TrialId{4}));
  CHECK(tree.children(0) == Nodes{1, 2});
  CHECK(tree.children(2) == Nodes{3});
  CHECK(tree.parents(3) == Nodes{2, 1});
  CHECK(tree.first_parent(3) == 2);
  CHECK_FALSE(tree.first_parent(0));
  CHECK(tree.best() == 3);
  const TreeNode& node = tree.node(1);
  CHECK(node.id == TrialId{5});
  CHECK(node.objective == 2.0);
  CHECK(node.build_seconds == 2.5);
  CHECK(node.features.find("registers") == 40.0);
  CHECK_FALSE(node.foreign);
  CHECK(node.ok());
}

TEST_CASE("SearchTree: a trial told again is the same node with the new outcome") {
  SearchTree tree;
  tree.record(tree_trial(0, {}, 4.0));
  tree.record(tree_trial(1, {0}, 2.0));
  Observation<Move> fraud = tree_trial(1, {0}, std::numeric_limits<double>::infinity());
  fraud.outcome.evaluation = Evaluation::failed(Verdict::cheated, "found late");
  const SearchTree::Recorded again = tree.record(fraud);
  CHECK_FALSE(again.fresh);
  CHECK(again.node == 1);
  CHECK(tree.size() == 2);
  CHECK(tree.children(0) == Nodes{1});
  CHECK_FALSE(tree.node(1).ok());
  CHECK(tree.best() == 0);
}

TEST_CASE("SearchTree: children told before their parents are joined when those come, in the move's order") {
  SearchTree tree;
  tree.record(tree_trial(7, {1, 0}, 1.0));
  CHECK(tree.parents(0).empty());
  tree.record(tree_trial(0, {}, 4.0));
  CHECK(tree.parents(0) == Nodes{1});
  tree.record(tree_trial(1, {0}, 2.0));
  CHECK(tree.parents(0) == Nodes{2, 1});
  CHECK(tree.first_parent(0) == 2);
  CHECK(tree.children(2) == Nodes{0});
}

TEST_CASE("SearchTree: claims that would close a cycle are dropped") {
  SearchTree tree;
  tree.record(tree_trial(1, {2}, 1.0));
  tree.record(tree_trial(2, {1}, 1.0));
  tree.record(tree_trial(3, {3}, 1.0));
  CHECK(tree.parents(1) == Nodes{0});
  CHECK(tree.parents(0).empty());
  CHECK(tree.parents(2).empty());
}

TEST_CASE("SearchTree: foreign trials and trials of which nothing came are nodes that say so") {
  SearchTree tree;
  Observation<Move> foreign = tree_trial(1, {}, 1.0);
  foreign.outcome.origin.reset();
  tree.record(foreign);
  Observation<Move> nothing = tree_trial(2, {1}, std::numeric_limits<double>::infinity());
  nothing.outcome.evaluation = Evaluation::failed(Verdict::not_generated, "prose");
  tree.record(nothing);
  CHECK(tree.node(0).foreign);
  CHECK(tree.node(0).generated());
  CHECK_FALSE(tree.node(1).generated());
  const SearchTree moved = std::move(tree);
  CHECK(moved.size() == 2);
}
