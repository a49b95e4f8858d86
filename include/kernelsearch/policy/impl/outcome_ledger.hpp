// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/space/config.hpp"

namespace kernelsearch::detail {

/// What a policy over spaces knows: what each configuration did by its latest measurement, and what it has
/// proposed that is still out.
class OutcomeLedger {
 public:
  static constexpr double failed = std::numeric_limits<double>::infinity();

  /// Notes the next proposal.
  void propose(const Config& config);

  /// Takes an outcome in; false where it changes nothing that was known.
  bool tell(const Observation<Config>& observation);

  [[nodiscard]] bool known(const Config& config) const;
  [[nodiscard]] bool outstanding(const Config& config) const;
  /// Measured or out.
  [[nodiscard]] bool taken(const Config& config) const { return known(config) || outstanding(config); }
  /// Infinity for what failed and what is not known.
  [[nodiscard]] double value(const Config& config) const;
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

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/outcome_ledger_impl.hpp"
#endif
