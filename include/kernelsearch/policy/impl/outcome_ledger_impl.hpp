// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/policy/impl/outcome_ledger.hpp"

namespace kernelsearch::detail {

KERNELSEARCH_INLINE void OutcomeLedger::propose(const Config& config) {
  proposals_.push_back(config);
  outstanding_.emplace(config, proposals_.size() - 1);
}

KERNELSEARCH_INLINE bool OutcomeLedger::tell(const Observation<Config>& observation) {
  const double objective = observation.outcome.ok() ? observation.outcome.objective : failed;
  const auto [at, fresh] = values_.try_emplace(observation.proposal, objective);
  const bool changed = fresh || at->second != objective;
  at->second = objective;
  if (fresh) order_.push_back(observation.proposal);
  if (observation.outcome.origin) {
    const std::uint64_t id = number(observation.outcome.origin->proposal);
    if (id < proposals_.size()) {
      // What came of it may be another point: the proposed one is then known to lead nowhere itself.
      if (values_.try_emplace(proposals_[id], failed).second) order_.push_back(proposals_[id]);
      outstanding_.erase(proposals_[id]);
    }
  }
  return changed;
}

KERNELSEARCH_INLINE bool OutcomeLedger::known(const Config& config) const {
  return values_.contains(config);
}

KERNELSEARCH_INLINE bool OutcomeLedger::outstanding(const Config& config) const {
  return outstanding_.contains(config);
}

KERNELSEARCH_INLINE double OutcomeLedger::value(const Config& config) const {
  const auto at = values_.find(config);
  return at == values_.end() ? failed : at->second;
}

}  // namespace kernelsearch::detail
