// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/suggested_moves.hpp"

#include <algorithm>
#include <iterator>

#include "kernelsearch/agents/method_registry.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/policy/beam.hpp"
#include "kernelsearch/policy/best_of_k.hpp"
#include "kernelsearch/policy/epsilon_greedy_tree.hpp"
#include "kernelsearch/policy/reflexion.hpp"
#include "kernelsearch/policy/roofline_budget.hpp"

namespace kernelsearch {
namespace {

/// The problem's own kernel, and then nothing: the one who is outside decides.
class RootOnly {
 public:
  using Proposal = Move;
  std::vector<Move> ask(std::size_t n) {
    if (n == 0 || std::exchange(proposed_, true)) return {};
    return {Move{}};
  }
  void tell(std::span<const Observation<Move>>) {}

 private:
  bool proposed_ = false;
};

template <class Policy, class Options>
AnyPolicy<Move> over_strategies(Options options, std::vector<std::string> strategies, std::uint64_t seed) {
  options.strategies = std::move(strategies);
  options.seed = seed;
  return Policy(std::move(options));
}

}  // namespace

std::vector<Move> SuggestedMoves::ask(std::size_t n) {
  if (!live_) {
    std::vector<Move> moves = inner_.ask(n);
    for (const Move& move : moves) waiting_.push_back({move, true, false});
    return moves;
  }
  std::vector<Move> moves;
  for (Waiting& waiting : waiting_) {
    if (moves.size() == n || !waiting.released || waiting.handed) continue;
    waiting.handed = true;
    moves.push_back(waiting.move);
  }
  return moves;
}

void SuggestedMoves::tell(std::span<const Observation<Move>> batch) {
  for (const Observation<Move>& observation : batch) {
    if (!observation.outcome.origin) continue;
    const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&observation](const Waiting& waiting) {
      return waiting.move == observation.proposal;
    });
    if (found != waiting_.end()) waiting_.erase(found);
  }
  exhausted_ = false;
  inner_.tell(batch);
}

SuggestedMoves::Suggestion SuggestedMoves::suggest() {
  if (!waiting_.empty()) return {waiting_.front().move, false};
  if (exhausted_) return {};
  std::vector<Move> moves = inner_.ask(1);
  if (moves.empty()) {
    exhausted_ = true;
    return {std::nullopt, true};
  }
  waiting_.push_back({std::move(moves.front()), false, false});
  return {waiting_.front().move, true};
}

void SuggestedMoves::release() {
  if (waiting_.empty())
    detail::raise<ConfigError>("there is no suggested move to release", "none", "call suggest() first");
  waiting_.front().released = true;
}

std::vector<MovePolicyEntry> move_policies() {
  return {{"beam", "keeps the best few kernels and improves each in turn (as GEAK)"},
          {"best_of_k", "several tries from the best kernel, then on from the best of them"},
          {"epsilon_greedy_tree", "a tree of kernels: mostly the best, now and then another leaf (STARK)"},
          {"none", "suggests nothing: the agent decides alone"},
          {"reflexion", "one chain: each kernel from the last, failures repaired first"},
          {"roofline_budget",
           "branches of methods chosen by the roofline, then each left out in turn (CUDA skill V2)"}};
}

AnyPolicy<Move> make_move_policy(const std::string& name, std::vector<std::string> strategies,
                                 std::uint64_t seed, Backend backend) {
  if (name == "roofline_budget") {
    RooflineBudgetOptions options;
    options.methods = read_methods(to_string(backend));
    std::vector<std::string> known;
    for (const Method& method : options.methods) known.push_back(method.id);
    for (const std::string& strategy : strategies)
      if (std::find(known.begin(), known.end(), strategy) == known.end()) {
        const std::string nearest = nearest_name(strategy, known);
        detail::raise<ConfigError>("there is no such method for " + std::string(to_string(backend)), strategy,
                                   nearest.empty() ? "list_methods with folder \"methods\" names them"
                                                   : "did you mean " + nearest + "?");
      }
    if (!strategies.empty())
      std::erase_if(options.methods, [&strategies](const Method& method) {
        return std::find(strategies.begin(), strategies.end(), method.id) == strategies.end();
      });
    options.seed = seed;
    return RooflineBudget(std::move(options));
  }
  if (name == "none") return RootOnly{};
  if (name == "beam") return over_strategies<Beam>(BeamOptions{}, std::move(strategies), seed);
  if (name == "best_of_k")
    return over_strategies<BestOfK>(BestOfKOptions{.climb = true}, std::move(strategies), seed);
  if (name == "reflexion") return over_strategies<Reflexion>(ReflexionOptions{}, std::move(strategies), seed);
  if (name == "epsilon_greedy_tree")
    return over_strategies<EpsilonGreedyTree>(EpsilonGreedyTreeOptions{}, std::move(strategies), seed);
  std::vector<std::string> names;
  for (const MovePolicyEntry& entry : move_policies()) names.push_back(entry.name);
  const std::string nearest = nearest_name(name, names);
  detail::raise<ConfigError>("no such policy over moves", name,
                             nearest.empty() ? "give beam, best_of_k, epsilon_greedy_tree, reflexion, "
                                               "roofline_budget or none"
                                             : "did you mean " + nearest + "?");
}

}  // namespace kernelsearch
