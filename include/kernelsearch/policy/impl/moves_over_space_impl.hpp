// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <utility>

#include "kernelsearch/policy/moves_over_space.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE void add_tunable_features(const Encoding& encoding, const Config& config,
                                              Features& features) {
  const std::vector<double> encoded = encoding.encode(config);
  for (std::size_t f = 0; f < encoded.size(); ++f) features.set("tunable:" + encoding.names()[f], encoded[f]);
}

KERNELSEARCH_INLINE MovesOverSpace::MovesOverSpace(AnyPolicy<Move> policy, SpaceStrategies strategies,
                                                   MovesOverSpaceOptions options)
    : policy_(std::move(policy)),
      strategies_(std::move(strategies)),
      options_(options),
      encoding_(strategies_.space()),
      random_(strategies_.space(), {.seed = options.seed}) {}

KERNELSEARCH_INLINE std::optional<Config> MovesOverSpace::carry_out(const Move& move) const {
  std::vector<Config> parents;
  for (const TrialId parent : move.parents)
    if (const auto known = configs_.find(number(parent)); known != configs_.end())
      parents.push_back(known->second);
  return strategies_.apply(move, parents, [this](const Config& config) { return tried_.contains(config); });
}

KERNELSEARCH_INLINE std::optional<Config> MovesOverSpace::restart() {
  while (true) {
    std::vector<Config> drawn = random_.ask(1);
    if (drawn.empty()) return std::nullopt;
    if (!tried_.contains(drawn.front())) return std::move(drawn.front());
  }
}

KERNELSEARCH_INLINE void MovesOverSpace::nothing_came(const Move& move, std::uint64_t theirs) {
  // The policy needs a trial of it; no run reaches numbers from the top.
  constexpr std::uint64_t top = ~std::uint64_t{0};
  Observation<Move> observation{move, {}};
  observation.outcome.id = TrialId{top - refused_++};
  observation.outcome.origin = Origin{ProposalId{theirs}, 0, 0};
  observation.outcome.parents = move.parents;
  observation.outcome.evaluation = Evaluation::failed(
      Verdict::not_generated, "the move leads to no configuration that is valid and untried");
  policy_.tell(std::span<const Observation<Move>>(&observation, 1));
}

KERNELSEARCH_INLINE std::vector<Config> MovesOverSpace::ask(std::size_t n) {
  std::vector<Config> proposals;
  const auto propose = [&](Config config, Move move, std::optional<std::uint64_t> theirs) {
    tried_.insert(config);
    proposals.push_back(std::move(config));
    proposals_.push_back({std::move(move), theirs});
    ++outstanding_;
  };
  while (proposals.size() < n) {
    std::vector<Move> moves = policy_.ask(n - proposals.size());
    for (Move& move : moves) {
      const std::uint64_t theirs = asked_policy_++;
      if (std::optional<Config> config = carry_out(move))
        propose(*std::move(config), std::move(move), theirs);
      else
        nothing_came(move, theirs);
    }
    if (!moves.empty()) continue;
    if (outstanding_ > 0) break;
    std::optional<Config> config = restart();
    if (!config) break;
    propose(*std::move(config), Move{MoveKind::submitted, {}, {}}, std::nullopt);
  }
  return proposals;
}

KERNELSEARCH_INLINE void MovesOverSpace::tell(std::span<const Observation<Config>> batch) {
  for (const Observation<Config>& observation : batch) {
    tried_.insert(observation.proposal);
    Observation<Move> theirs{Move{MoveKind::submitted, {}, {}}, observation.outcome};
    theirs.outcome.origin.reset();
    const auto& origin = observation.outcome.origin;
    if (origin && number(origin->proposal) < proposals_.size()) {
      Proposed& ours = proposals_[number(origin->proposal)];
      if (ours.outstanding) --outstanding_;
      ours.outstanding = false;
      theirs.proposal = ours.move;
      if (ours.theirs) theirs.outcome.origin = Origin{ProposalId{*ours.theirs}, origin->index, origin->count};
    }
    theirs.outcome.parents = theirs.proposal.parents;
    if (observation.outcome.evaluation.verdict != Verdict::not_generated) {
      configs_.insert_or_assign(number(observation.outcome.id), observation.proposal);
      if (options_.tunables_as_features && strategies_.space().contains(observation.proposal))
        add_tunable_features(encoding_, observation.proposal, theirs.outcome.evaluation.features);
    }
    policy_.tell(std::span<const Observation<Move>>(&theirs, 1));
  }
}

}  // namespace kernelsearch
