// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernelsearch/policy/impl/child.hpp"
#include "kernelsearch/policy/nsga2.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE Nsga2::Nsga2(Space space, Nsga2Options options)
    : ledger_(std::move(space), options.seed, options.default_first),
      options_(std::move(options)),
      rng_(Rng::stream(options_.seed, "nsga2")),
      starts_(std::max<std::size_t>(options_.population, 2)) {}

KERNELSEARCH_INLINE std::vector<Config> Nsga2::ask(std::size_t n) {
  return ledger_.propose(n, [this] { return next(); });
}

KERNELSEARCH_INLINE std::optional<Config> Nsga2::next() {
  if (starts_.pending() || members_.size() < 2) {
    starts_.use();
    return ledger_.random();
  }
  return detail::child(ledger_, rng_, options_.crossover, options_.mutations,
                       [this]() -> const Config& { return parent(); });
}

KERNELSEARCH_INLINE bool Nsga2::before(const Member& a, const Member& b) noexcept {
  if (a.front != b.front) return a.front < b.front;
  return a.crowding > b.crowding;
}

KERNELSEARCH_INLINE const Config& Nsga2::parent() {
  const Member& one = members_[rng_.below(members_.size())];
  const Member& other = members_[rng_.below(members_.size())];
  return before(other, one) ? other.config : one.config;
}

KERNELSEARCH_INLINE std::vector<double> Nsga2::losses_of(const Outcome& outcome) const {
  if (!outcome.ok()) return {};
  if (options_.objectives.only_time()) return {outcome.objective};
  const Result<std::vector<double>> losses = options_.objectives.try_losses(outcome.evaluation);
  return losses ? *losses : std::vector<double>{};
}

KERNELSEARCH_INLINE void Nsga2::rank() {
  // Peeled front by front; failures are behind all of them.
  std::vector<std::vector<double>> left;
  for (const Member& member : members_) left.push_back(member.losses);
  for (Member& member : members_) member = {std::move(member.config), std::move(member.losses), 0, 0};
  std::size_t front = 0;
  while (true) {
    // Equal members share a front: the crowding between them, which is 0, tells which one leaves.
    std::vector<std::size_t> ids;
    for (const std::size_t i : pareto_front(left))
      for (std::size_t j = 0; j < left.size(); ++j)
        if (left[j] == left[i]) ids.push_back(j);
    if (ids.empty()) break;
    const std::size_t losses = left[ids.front()].size();
    for (std::size_t k = 0; k < losses; ++k) {
      std::stable_sort(ids.begin(), ids.end(), [&](std::size_t a, std::size_t b) {
        return members_[a].losses[k] < members_[b].losses[k];
      });
      const double low = std::log(members_[ids.front()].losses[k]);
      const double range = std::log(members_[ids.back()].losses[k]) - low;
      if (!(range > 0)) continue;
      members_[ids.front()].crowding = members_[ids.back()].crowding =
          std::numeric_limits<double>::infinity();
      for (std::size_t i = 1; i + 1 < ids.size(); ++i)
        members_[ids[i]].crowding +=
            (std::log(members_[ids[i + 1]].losses[k]) - std::log(members_[ids[i - 1]].losses[k])) / range;
    }
    for (const std::size_t id : ids) {
      members_[id].front = front;
      left[id].clear();
    }
    ++front;
  }
  for (Member& member : members_)
    if (member.losses.empty()) member.front = front;
}

KERNELSEARCH_INLINE void Nsga2::tell(std::span<const Observation<Config>> batch) {
  for (const Observation<Config>& observation : batch) {
    const bool first = ledger_.record(observation);
    if (!starts_.admit(observation, first, ledger_)) continue;
    std::vector<double> losses = losses_of(observation.outcome);
    if (first) {
      members_.push_back({observation.proposal, std::move(losses)});
    } else {
      for (Member& member : members_)
        if (member.config == observation.proposal) member.losses = losses;
    }
    rank();
    if (members_.size() > std::max<std::size_t>(options_.population, 2)) {
      members_.erase(std::max_element(members_.begin(), members_.end(), before));
      rank();
    }
  }
}

}  // namespace kernelsearch
