// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <limits>
#include <tuple>

#include "kernelsearch/policy/flat_ucb.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE FlatUcb::FlatUcb(FlatUcbOptions options)
    : options_(std::move(options)),
      rng_(Rng::stream(options_.seed, "flat_ucb")),
      ledger_(options_.strategies, options_.limits),
      statistics_(ledger_.strategies(), options_.reward) {}

KERNELSEARCH_INLINE std::vector<Move> FlatUcb::ask(std::size_t n) {
  statistics_.follow(ledger_, [](const Pull& pull) { return pull.strategy; });
  return ledger_.ask(n, [this] { return choose(); });
}

KERNELSEARCH_INLINE std::size_t FlatUcb::best_arm(std::size_t node) const {
  double total = 0.0;
  for (std::size_t s = 0; s < ledger_.strategies(); ++s)
    total += static_cast<double>(statistics_[s].pulls + ledger_.pending(s));
  // Greatest score, then fewest pulls, then shortest build.
  using Key = std::tuple<double, double, double>;
  std::optional<Key> top;
  std::size_t best = 0;
  for (const std::size_t s : ledger_.open_strategies(node)) {
    const ArmStatistics& arm = statistics_[s];
    const double n = static_cast<double>(arm.pulls + ledger_.pending(s));
    const double score = n == 0 ? std::numeric_limits<double>::infinity()
                                : arm.mean() + std::sqrt(options_.exploration * std::log(total) / n);
    const Key key{score, -n, -arm.mean_build()};
    if (top && !(*top < key)) continue;
    top = key;
    best = s;
  }
  return best;
}

KERNELSEARCH_INLINE std::optional<Move> FlatUcb::choose() {
  const std::optional<std::size_t> node = ledger_.best_expandable();
  if (!node) return std::nullopt;
  if (options_.epsilon > 0.0 && rng_.chance(options_.epsilon)) {
    const std::vector<std::size_t> open = ledger_.open_strategies(*node);
    return ledger_.propose(*node, open[rng_.below(open.size())]);
  }
  return ledger_.propose(*node, best_arm(*node));
}

KERNELSEARCH_INLINE void FlatUcb::tell(std::span<const Observation<Move>> batch) {
  for (const Observation<Move>& observation : batch) ledger_.tell(observation);
}

}  // namespace kernelsearch
