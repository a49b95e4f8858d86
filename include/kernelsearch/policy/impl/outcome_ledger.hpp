// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/space/config.hpp"

namespace kernelsearch::detail {

/// What a policy over spaces knows: what each configuration did by its latest measurement, and what it has
/// proposed that is still out.
class OutcomeLedger {
 public:
  static constexpr double failed = std::numeric_limits<double>::infinity();

  /// Notes the next proposal.
  void propose(const Config& config) {
    proposals_.push_back(config);
    outstanding_.emplace(config, proposals_.size() - 1);
  }

  /// Takes an outcome in; false where it changes nothing that was known.
  bool tell(const Observation<Config>& observation) {
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

  [[nodiscard]] bool known(const Config& config) const { return values_.contains(config); }
  [[nodiscard]] bool outstanding(const Config& config) const { return outstanding_.contains(config); }
  /// Measured or out.
  [[nodiscard]] bool taken(const Config& config) const { return known(config) || outstanding(config); }
  /// Infinity for what failed and what is not known.
  [[nodiscard]] double value(const Config& config) const {
    const auto at = values_.find(config);
    return at == values_.end() ? failed : at->second;
  }
  [[nodiscard]] std::size_t proposed() const noexcept { return proposals_.size(); }
  [[nodiscard]] std::size_t in_flight() const noexcept { return outstanding_.size(); }
  /// The configurations that are known, in the order they became so.
  [[nodiscard]] const std::vector<Config>& order() const noexcept { return order_; }
  template <class F>
  void for_each_outstanding(F&& f) const {  // in the order of the proposals, whatever the hash does
    if (outstanding_.empty()) return;
    for (std::size_t id = 0, left = outstanding_.size(); left > 0 && id < proposals_.size(); ++id) {
      const auto at = outstanding_.find(proposals_[id]);
      if (at == outstanding_.end() || at->second != id) continue;
      f(proposals_[id]);
      --left;
    }
  }

 private:
  std::unordered_map<Config, double> values_;
  std::unordered_map<Config, std::uint64_t> outstanding_;
  std::vector<Config> proposals_, order_;
};

}  // namespace kernelsearch::detail
