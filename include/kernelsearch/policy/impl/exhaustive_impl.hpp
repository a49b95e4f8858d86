// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/policy/exhaustive.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE std::vector<Config> Exhaustive::ask(std::size_t n) {
  std::vector<Config> proposals;
  while (proposals.size() < n && next_ < space_.count()) {
    Config config = space_.unrank(next_);
    next_ += BigCount(1);
    if (!foreign_.contains(config)) proposals.push_back(std::move(config));
  }
  return proposals;
}

KERNELSEARCH_INLINE void Exhaustive::tell(std::span<const Observation<Config>> batch) {
  for (const Observation<Config>& observation : batch)
    if (!observation.outcome.origin) foreign_.insert(observation.proposal);
}

}  // namespace kernelsearch
