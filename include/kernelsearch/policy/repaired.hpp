// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "kernelsearch/core/move.hpp"
#include "kernelsearch/policy/search_policy.hpp"

namespace kernelsearch {

/// Any policy over moves, but a child that failed is repaired before the policy hears of it: up to `repairs`
/// debug moves, each on what failed last, with the strategies that were to be applied. A repair is a trial of
/// its own. A kernel that was repaired is told as the outcome of its proposal, so that a slip
/// of the pen does not count against the strategy; else of the first failure, and of the repairs as trials
/// from outside. With 0 repairs it is the policy itself.
///
/// Not repaired are the problem's own kernel, kernels from outside and the policy's own debug moves. While
/// repairs are to be proposed the policy is not asked.
template <SearchPolicy P>
requires std::same_as<typename P::Proposal, Move>
class Repaired {
 public:
  using Proposal = Move;

  explicit Repaired(P policy, std::size_t repairs = 1) : policy_(std::move(policy)), repairs_(repairs) {}

  std::vector<Move> ask(std::size_t n) {
    std::vector<Move> moves;
    for (; moves.size() < n && !queue_.empty(); queue_.pop_front()) {
      proposals_.push_back(std::move(queue_.front()));
      moves.push_back(proposals_.back().move);
    }
    if (moves.size() == n) return moves;
    for (Move& move : policy_.ask(n - moves.size())) {
      proposals_.push_back({move, asked_++, nullptr});
      // The policy may repair what a repair did not: no proposal is made twice.
      if (move.kind == MoveKind::debug)
        if (const auto asked = mended_.find(move.parents); asked != mended_.end())
          move.variant += asked->second;
      moves.push_back(std::move(move));
    }
    return moves;
  }

  void tell(std::span<const Observation<Move>> batch) {
    for (const Observation<Move>& observation : batch) tell(observation);
  }

  [[nodiscard]] P& inner() noexcept { return policy_; }
  [[nodiscard]] const P& inner() const noexcept { return policy_; }

 private:
  /// A proposal of the policy of which a candidate failed, and the failures so far.
  struct Chain {
    Move move;
    Origin origin;
    std::vector<Observation<Move>> failures = {};
  };
  struct Proposed {
    Move move;                     ///< of the policy, as it gave it; else of the repair
    std::uint64_t number = 0;      ///< among the policy's own
    std::shared_ptr<Chain> chain;  ///< of a repair
  };
  /// As what the policy knows a trial.
  struct Known {
    Move move;
    std::optional<Origin> origin;
    std::vector<TrialId> parents;
  };

  void tell(const Observation<Move>& observation) {
    const Outcome& outcome = observation.outcome;
    if (const auto known = known_.find(number(outcome.id)); known != known_.end())
      return pass(observation, known->second);
    if (!outcome.origin || number(outcome.origin->proposal) >= proposals_.size())
      return pass(observation, {observation.proposal, outcome.origin, outcome.parents});
    if (!seen_.insert(number(outcome.id)).second) return;  // a failure that the policy never heard of
    const Proposed& of = proposals_[number(outcome.origin->proposal)];
    const Origin origin{ProposalId{of.number}, outcome.origin->index, outcome.origin->count};
    const bool failed = !outcome.ok() && has_candidate(outcome.evaluation.verdict);
    const bool mendable =
        of.chain ? of.chain->failures.size() < repairs_
                 : repairs_ > 0 && of.move.kind != MoveKind::root && of.move.kind != MoveKind::debug;
    if (failed && mendable) {
      auto chain = of.chain ? of.chain : std::make_shared<Chain>(Chain{of.move, origin});
      chain->failures.push_back(observation);
      Move repair{MoveKind::debug, {outcome.id}, chain->move.strategies, 0};
      mended_[repair.parents] = 1;
      queue_.push_back({std::move(repair), 0, std::move(chain)});
      return;
    }
    if (!of.chain) return pass(observation, {of.move, origin, outcome.parents});
    if (outcome.evaluation.is_unanswered()) {  // nobody was there to repair it
      Move again = of.move;
      again.variant = mended_[again.parents]++;
      queue_.push_back({std::move(again), 0, of.chain});
      return;
    }
    const std::shared_ptr<Chain> chain = of.chain;
    if (outcome.ok()) return pass(observation, {chain->move, chain->origin, chain->move.parents});
    if (failed) chain->failures.push_back(observation);
    std::optional<Origin> place = chain->origin;
    for (const Observation<Move>& failure : chain->failures) {
      const Move& move = place ? chain->move : failure.proposal;
      pass(failure, {move, place, failure.outcome.parents});
      place.reset();
    }
  }

  void pass(Observation<Move> observation, Known as) {
    observation.proposal = as.move;
    observation.outcome.origin = as.origin;
    observation.outcome.parents = as.parents;
    known_.insert_or_assign(number(observation.outcome.id), std::move(as));
    policy_.tell(std::span<const Observation<Move>>(&observation, 1));
  }

  P policy_;
  std::size_t repairs_;
  std::uint64_t asked_ = 0;                               ///< proposals of the policy
  std::vector<Proposed> proposals_;                       ///< by number, repairs included
  std::deque<Proposed> queue_;                            ///< repairs to be proposed
  std::map<std::vector<TrialId>, std::uint32_t> mended_;  ///< how often a repair was asked for
  std::set<std::uint64_t> seen_;
  std::map<std::uint64_t, Known> known_;
};

}  // namespace kernelsearch
