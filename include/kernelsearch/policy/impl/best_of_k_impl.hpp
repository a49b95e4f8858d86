// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/best_of_k.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE BestOfK::BestOfK(BestOfKOptions options)
    : options_(std::move(options)),
      rng_(Rng::stream(options_.seed, "best_of_k")),
      ledger_(options_.strategies, options_.limits) {
  if (options_.k == 0) detail::raise<ConfigError>("BestOfKOptions::k is 0", "0", "give at least 1");
}

KERNELSEARCH_INLINE std::vector<Move> BestOfK::ask(std::size_t n) {
  return ledger_.ask(n, [this] { return choose(); });
}

KERNELSEARCH_INLINE std::optional<Move> BestOfK::choose() {
  const bool enough = sampled_ >= options_.k || (parent_ && !ledger_.open(*parent_));
  if (!parent_ || (options_.climb && enough)) {
    if (parent_ && ledger_.outstanding() > 0) return std::nullopt;  // the best is not known yet
    parent_ = ledger_.best_expandable();
    sampled_ = 0;
  } else if (enough) {
    return std::nullopt;
  }
  if (!parent_) return std::nullopt;
  ++sampled_;
  return ledger_.propose(*parent_, ledger_.least_tried(*parent_, rng_));
}

KERNELSEARCH_INLINE void BestOfK::tell(std::span<const Observation<Move>> batch) {
  for (const Observation<Move>& observation : batch) {
    const std::size_t known = ledger_.tree().size();
    ledger_.tell(observation);
    if (ledger_.tree().size() == known || !observation.outcome.origin) continue;
    if (ledger_.node(known).is_no_try() && sampled_ > 0) --sampled_;  // no sample
  }
}

}  // namespace kernelsearch
