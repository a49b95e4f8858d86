// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <optional>
#include <sstream>
#include <string>

#include "kernelsearch/policy/hierarchical_ucb.hpp"
#include "support/packed_text.hpp"

// Replays decisions of the classes that KernelBand's authors published (tests/fixtures/kernelband/README.md):
// for the same outcomes HierarchicalUcbOptions::v2() chooses the same strategies and kernels.

using namespace kernelsearch;

namespace {

/// v2 with the authors' strategies in their order, and what each relieves.
HierarchicalUcbOptions published_v2() {
  HierarchicalUcbOptions options = HierarchicalUcbOptions::v2();
  options.strategies = {"tiling", "vectorization", "fusion", "pipelining", "reordering", "access_layout"};
  options.targets = {{"tiling", "l2"},     {"vectorization", "dram"}, {"fusion", "dram"},
                     {"pipelining", "sm"}, {"reordering", "sm"},      {"access_layout", "dram"}};
  return options;
}

/// The rest of the line as the outcome of the move: `failed`, or the time and the use of SM, DRAM and L2.
Observation<Move> outcome_of(const Move& move, std::uint64_t id, std::istringstream& rest) {
  Observation<Move> told{move, {}};
  told.outcome.id = TrialId{id};
  told.outcome.parents = move.parents;
  told.outcome.origin = Origin{ProposalId{id}, 0, 1};
  std::string word;
  rest >> word;
  if (word == "failed") {
    told.outcome.evaluation = Evaluation::failed(Verdict::wrong_result, "scripted");
    return told;
  }
  double milliseconds = 0;
  if (word == "ok")
    rest >> milliseconds;
  else
    milliseconds = std::stod(word);
  told.outcome.objective = milliseconds * 1e-3;
  told.outcome.evaluation = Evaluation::succeeded(told.outcome.objective);
  for (const char* feature : {"sm", "dram", "l2"}) {
    double use = 0;
    rest >> use;
    told.outcome.evaluation.features.set(feature, use);
  }
  return told;
}

}  // namespace

TEST_CASE("HierarchicalUcb: v2 decides as the authors' published classes, step by step") {
  std::istringstream in(
      support::packed_text(KERNELSEARCH_SOURCE_DIR "/tests/fixtures/kernelband/bandit.trace"));
  std::optional<HierarchicalUcb> policy;
  std::string line, title;
  std::uint64_t id = 0;
  std::size_t steps = 0;
  bool differs = false;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "trace") {
      title = line;
      policy.emplace(published_v2());
      id = 0;
      differs = false;
      continue;
    }
    if (kind.empty() || kind == "#" || differs) continue;
    CAPTURE(title);
    CAPTURE(id);
    const std::vector<Move> moves = policy->ask(1);
    REQUIRE(moves.size() == 1);
    if (kind == "step") {
      std::string strategy;
      std::uint64_t parent = 0;
      words >> strategy >> parent;
      CHECK(moves.front().strategy() == strategy);
      CHECK(number(moves.front().parents.at(0)) == parent);
      differs = moves.front().strategy() != strategy || number(moves.front().parents.at(0)) != parent;
      ++steps;
    }
    const Observation<Move> told = outcome_of(moves.front(), id++, words);
    policy->tell({&told, 1});
  }
  CHECK(steps == 32 * 48);
}
