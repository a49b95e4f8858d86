// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/policy/reflexion.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE Reflexion::Reflexion(ReflexionOptions options)
    : options_(std::move(options)),
      rng_(Rng::stream(options_.seed, "reflexion")),
      ledger_(options_.strategies, options_.limits) {}

KERNELSEARCH_INLINE std::vector<Move> Reflexion::ask(std::size_t n) {
  return ledger_.ask(n, [this] { return choose(); });
}

KERNELSEARCH_INLINE std::optional<Move> Reflexion::choose() {
  if (ledger_.outstanding() > 0) return std::nullopt;  // the next attempt is made on this one
  std::optional<std::size_t> at = last_;
  if (at && ledger_.can_debug(*at)) return ledger_.propose_debug(*at);
  if (at && !ledger_.node(*at).ok()) at = last_right_;
  const bool tired = options_.patience > 0 && fruitless_ >= options_.patience;
  if (tired) fruitless_ = 0;
  if (!at || tired || !ledger_.open(*at)) at = ledger_.best_expandable();
  if (!at) return std::nullopt;
  return ledger_.propose(*at, ledger_.least_tried(*at, rng_));
}

KERNELSEARCH_INLINE void Reflexion::tell(std::span<const Observation<Move>> batch) {
  for (const Observation<Move>& observation : batch) {
    const std::size_t known = ledger_.tree().size();
    ledger_.tell(observation);
    if (ledger_.tree().size() == known || !ledger_.node(known).generated()) continue;
    last_ = known;
    const TreeNode& node = ledger_.node(known);
    if (node.ok()) last_right_ = known;
    const bool gain = node.ok() && (!best_ || node.objective < *best_);
    fruitless_ = gain ? 0 : fruitless_ + 1;
    if (gain) best_ = node.objective;
  }
}

}  // namespace kernelsearch
