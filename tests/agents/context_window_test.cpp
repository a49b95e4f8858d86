// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/context_window.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "kernelsearch/core/rng.hpp"
#include "support/scripted_kernels.hpp"

using namespace kernelsearch;

namespace {

struct Tree {
  TrialLog<Candidate> log;
  std::uint64_t next = 0;
  /// A trial; time 0 means that it failed.
  TrialId add(std::vector<std::uint64_t> parents, double time) {
    Outcome outcome;
    outcome.id = TrialId{next++};
    for (const std::uint64_t parent : parents) outcome.parents.push_back(TrialId{parent});
    outcome.evaluation =
        time > 0 ? Evaluation::succeeded(time) : Evaluation::failed(Verdict::wrong_result, "wrong", 0.5);
    outcome.objective = time > 0 ? time : std::numeric_limits<double>::infinity();
    log.append({scripted::kernel_with({}), outcome});
    return outcome.id;
  }
  [[nodiscard]] History<Candidate> history() const { return {log, log.size()}; }
  [[nodiscard]] std::vector<std::uint64_t> window(WindowKind kind, std::uint64_t i,
                                                  std::size_t leaders = 5) const {
    std::vector<std::uint64_t> ids;
    for (const WindowEntry& entry : context_window(kind, history(), TrialId{i}, {.leaders = leaders}))
      ids.push_back(number(entry.id));
    return ids;
  }
};

using Ids = std::vector<std::uint64_t>;

/// 0 is the root; 1, 2, 3 its children; 4, 5 made from 1; 6 from 2; 7, 8 from 3.
struct Example : Tree {
  Example() {
    add({}, 10);
    add({0}, 8);
    add({0}, 0);
    add({0}, 9);
    add({1}, 0);
    add({1}, 5);
    add({2}, 7);
    add({3}, 6);
    add({3}, 4);
  }
};

}  // namespace

TEST_CASE("context window: STARK's three windows") {
  const Example tree;
  // {i, n}, D(i) with the right one first, Top-r(C)
  CHECK(tree.window(WindowKind::plan, 1) == Ids{1, 0, 5, 4, 8, 7, 6});
  CHECK(tree.window(WindowKind::plan, 1, 2) == Ids{1, 0, 5, 4, 8});
  // {i, n}, D(i), the children of its siblings 2 and 3
  CHECK(tree.window(WindowKind::code, 1) == Ids{1, 0, 5, 4, 8, 7, 6});
  CHECK(tree.window(WindowKind::code, 5) == Ids{5, 0});
  CHECK(tree.window(WindowKind::code, 3) == Ids{3, 0, 8, 7, 5, 6, 4});
  // {i, n}, S(i)
  CHECK(tree.window(WindowKind::debug, 2) == Ids{2, 0, 1, 3});
  CHECK(tree.window(WindowKind::debug, 4) == Ids{4, 0, 5});
  CHECK(tree.window(WindowKind::debug, 0) == Ids{0});
  // GEAK's ancestors: the fastest, the fastest first
  CHECK(tree.window(WindowKind::leaders, 1, 3) == Ids{1, 8, 5, 7});
  CHECK(tree.window(WindowKind::alone, 1) == Ids{1});
}

TEST_CASE("context window: what was not told yet is not in it") {
  const Example tree;
  const History<Candidate> earlier(tree.log, 5);
  const auto window = context_window(WindowKind::plan, earlier, TrialId{1});
  for (const WindowEntry& entry : window) CHECK(number(entry.id) < 5);
}

TEST_CASE("context window: the root of a tree with foreign trials and two parents") {
  Example tree;
  const TrialId joined = tree.add({5, 8}, 3);
  CHECK(root_of(tree.history(), joined) == TrialId{0});
  CHECK(tree.window(WindowKind::debug, number(joined)) == Ids{9, 0});
  CHECK(tree.window(WindowKind::debug, 5) == Ids{5, 0, 4});
  const TrialId stray = tree.add({77}, 3);
  CHECK(root_of(tree.history(), stray) == stray);
}

TEST_CASE("context window: the least relevant go first, never the node or the root") {
  const Example tree;
  const auto window = context_window(WindowKind::plan, tree.history(), TrialId{1});
  std::vector<std::size_t> tokens(window.size(), 10);
  const auto ids = [&](std::size_t budget) {
    Ids result;
    for (const WindowEntry& entry : cut_to_budget(window, tokens, budget)) result.push_back(number(entry.id));
    return result;
  };
  CHECK(ids(1000) == Ids{1, 0, 5, 4, 8, 7, 6});
  CHECK(ids(69) == Ids{1, 0, 5, 4, 8, 7});
  CHECK(ids(30) == Ids{1, 0, 5});
  CHECK(ids(29) == Ids{1, 0});
  CHECK(ids(0) == Ids{1, 0});
}

TEST_CASE("context window: of any tree, each trial once, the node first, all known") {
  Rng rng(4);
  for (int round = 0; round < 200; ++round) {
    Tree tree;
    tree.add({}, 10);
    for (int i = 1; i < 30; ++i)
      tree.add({rng.below(static_cast<std::uint64_t>(i))}, rng.chance(0.3) ? 0 : rng.uniform());
    for (const WindowKind kind :
         {WindowKind::alone, WindowKind::plan, WindowKind::code, WindowKind::debug, WindowKind::leaders}) {
      const std::uint64_t i = rng.below(30);
      Ids ids = tree.window(kind, i);
      REQUIRE(!ids.empty());
      CHECK(ids.front() == i);
      std::sort(ids.begin(), ids.end());
      CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
      CHECK(ids.back() < 30);
    }
  }
}
