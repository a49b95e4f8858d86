// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/differential_evolution.hpp"
#include "kernelsearch/policy/genetic_algorithm.hpp"
#include "kernelsearch/policy/greedy_search.hpp"
#include "kernelsearch/policy/policy_bandit.hpp"
#include "kernelsearch/policy/simulated_annealing.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE std::vector<BanditArm> default_bandit_arms(const Space& space, std::uint64_t seed,
                                                               bool default_first) {
  // Under one seed their first points would be the same.
  std::vector<BanditArm> arms;
  arms.push_back(
      {"simulated_annealing", SimulatedAnnealing(space, {.seed = seed, .default_first = default_first})});
  arms.push_back({"genetic", GeneticAlgorithm(space, {.seed = seed + 1, .default_first = false})});
  arms.push_back(
      {"differential_evolution", DifferentialEvolution(space, {.seed = seed + 2, .default_first = false})});
  arms.push_back({"greedy", GreedySearch(space, {.seed = seed + 3, .default_first = false})});
  return arms;
}

KERNELSEARCH_INLINE PolicyBandit::PolicyBandit(std::vector<BanditArm> arms, PolicyBanditOptions options)
    : arms_(std::move(arms)),
      options_(options),
      rng_(Rng::stream(options.seed, "policy_bandit")),
      asked_(arms_.size(), 0),
      proposals_(arms_.size(), 0) {
  if (arms_.empty()) detail::raise<ConfigError>("a bandit needs arms", "none", "give it at least one policy");
}

KERNELSEARCH_INLINE std::vector<Config> PolicyBandit::ask(std::size_t n) {
  std::vector<Config> proposals;
  while (proposals.size() < n) {
    std::optional<Config> config = next();
    if (!config) break;
    proposals.push_back(*std::move(config));
  }
  return proposals;
}

KERNELSEARCH_INLINE std::optional<Config> PolicyBandit::next() {
  for (const std::size_t arm : by_score()) {
    std::optional<Config> config = fresh_from(arm);
    if (!config) continue;
    entries_[*config].use = forgotten_ + history_.size();
    history_.push_back({arm});
    ++proposals_[arm];
    if (history_.size() > std::max<std::size_t>(options_.window, 1)) {
      history_.pop_front();
      ++forgotten_;
    }
    return config;
  }
  return std::nullopt;
}

KERNELSEARCH_INLINE std::optional<Config> PolicyBandit::fresh_from(std::size_t arm) {
  while (true) {
    std::vector<Config> asked = arms_[arm].policy.ask(1);
    if (asked.empty()) return std::nullopt;
    const auto [entry, fresh] = entries_.try_emplace(asked.front());
    entry->second.owners.push_back({arm, asked_[arm]++});
    if (fresh) return std::move(asked.front());
  }
}

KERNELSEARCH_INLINE double PolicyBandit::credit(std::size_t arm) const {
  double area = 0, uses = 0;
  for (const Use& use : history_) {
    if (use.arm != arm) continue;
    ++uses;
    if (use.new_best) area += uses;
  }
  return uses == 0 ? 0 : area / (uses * (uses + 1) / 2);
}

KERNELSEARCH_INLINE std::vector<std::size_t> PolicyBandit::by_score() {
  std::vector<double> uses(arms_.size(), 0), score(arms_.size(), 0);
  for (const Use& use : history_) ++uses[use.arm];
  const double total = static_cast<double>(std::max<std::size_t>(history_.size(), 1));
  for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
    score[arm] = uses[arm] == 0
                     ? std::numeric_limits<double>::infinity()
                     : credit(arm) + options_.exploration * std::sqrt(2 * std::log2(total) / uses[arm]);
  }
  std::vector<std::size_t> order(arms_.size());
  for (std::size_t arm = 0; arm < order.size(); ++arm) order[arm] = arm;
  rng_.shuffle(order);  // among equals
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
  return order;
}

KERNELSEARCH_INLINE void PolicyBandit::tell(std::span<const Observation<Config>> batch) {
  for (const Observation<Config>& observation : batch) {
    const auto [found, foreign] = entries_.try_emplace(observation.proposal);
    const Entry& entry = found->second;
    const double objective = observation.outcome.objective;
    if (best_config_ == observation.proposal) {
      best_ = objective;  // measured again
    } else if (objective < best_) {
      best_ = objective;
      best_config_ = observation.proposal;
      if (!entry.owners.empty() && entry.use >= forgotten_) history_[entry.use - forgotten_].new_best = true;
    }
    Observation<Config> theirs = observation;
    for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
      const auto owner = std::find_if(entry.owners.begin(), entry.owners.end(),
                                      [arm](const Owner& o) { return o.arm == arm; });
      if (owner == entry.owners.end())
        theirs.outcome.origin.reset();
      else
        theirs.outcome.origin = Origin{ProposalId{owner->proposal},
                                       observation.outcome.origin ? observation.outcome.origin->index : 0,
                                       observation.outcome.origin ? observation.outcome.origin->count : 1};
      arms_[arm].policy.tell(std::span<const Observation<Config>>(&theirs, 1));
    }
  }
}

KERNELSEARCH_INLINE bool PolicyBandit::await() {
  return std::any_of(arms_.begin(), arms_.end(), [](BanditArm& arm) { return arm.policy.await(); });
}

}  // namespace kernelsearch
