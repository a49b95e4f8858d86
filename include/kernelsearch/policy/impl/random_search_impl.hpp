// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/policy/random_search.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE RandomSearch::RandomSearch(Space space, RandomSearchOptions options)
    : space_(std::move(space)),
      rng_(Rng::stream(options.seed, "random_search")),
      default_pending_(options.default_first) {
  if (space_.count().fits_u64()) order_.emplace(space_.count().low(), rng_);
}

KERNELSEARCH_INLINE std::optional<Config> RandomSearch::draw() {
  if (!order_) return space_.sample(rng_);
  if (next_ == order_->size()) return std::nullopt;
  return space_.unrank(BigCount((*order_)[next_++]));
}

KERNELSEARCH_INLINE std::vector<Config> RandomSearch::ask(std::size_t n) {
  std::vector<Config> proposals;
  if (default_pending_ && n > 0) {
    default_pending_ = false;
    if (known_.insert(space_.default_config()).second) proposals.push_back(space_.default_config());
  }
  while (proposals.size() < n) {
    std::optional<Config> config = draw();
    if (!config) break;
    if (known_.contains(*config)) continue;
    if (!order_) known_.insert(*config);
    proposals.push_back(*std::move(config));
  }
  return proposals;
}

KERNELSEARCH_INLINE void RandomSearch::tell(std::span<const Observation<Config>> batch) {
  for (const Observation<Config>& observation : batch)
    if (!observation.outcome.origin) known_.insert(observation.proposal);
}

}  // namespace kernelsearch
