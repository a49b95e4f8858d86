// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch::detail {

/// A configuration and what it took; infinity where it failed.
struct Known {
  Config config;
  double objective = std::numeric_limits<double>::infinity();
};

/// What every policy over spaces keeps: which configurations were proposed or told and with what result, so
/// that none is proposed twice and results that are there already cost nothing; and the draws that all of
/// them share. It grows with the trials, never with the space.
class Ledger {
 public:
  Ledger(Space space, std::uint64_t seed, bool default_first);

  [[nodiscard]] const Space& space() const noexcept { return space_; }
  /// The tunables that have more than one usable value.
  [[nodiscard]] std::span<const std::size_t> free() const noexcept { return free_; }

  /// Whether it was proposed or told.
  [[nodiscard]] bool known(const Config& config) const { return results_.contains(config); }
  /// What was told of it; empty where nothing was yet.
  [[nodiscard]] std::optional<double> result(const Config& config) const;
  /// The best so far; null before the first success.
  [[nodiscard]] const Known* best() const noexcept { return best_ ? &*best_ : nullptr; }
  /// Whether `config` is the best so far.
  [[nodiscard]] bool is_best(const Config& config) const { return best_ && best_->config == config; }
  /// What was told of it; infinity where it failed or nothing was told.
  [[nodiscard]] double value(const Config& config) const;
  /// The configurations that have a result, in the order they came to have one.
  [[nodiscard]] const std::vector<Config>& told() const noexcept { return told_; }
  /// Proposals made so far.
  [[nodiscard]] std::size_t proposed() const noexcept { return proposals_.size(); }
  /// Proposals of which nothing was told yet.
  [[nodiscard]] std::size_t outstanding() const noexcept { return outstanding_.size(); }
  /// Calls `f(config)` for each of them, in the order of the proposals.
  template <class F>
  void for_each_outstanding(F&& f) const {
    for (const std::uint64_t id : outstanding_) f(proposals_[id]);
  }

  /// Notes the next proposal.
  void propose(const Config& config);

  /// Collects up to `n` proposals from `next`, which returns an unknown configuration, or none.
  template <class Next>
  [[nodiscard]] std::vector<Config> propose(std::size_t n, Next next) {
    std::vector<Config> proposals;
    while (proposals.size() < n) {
      std::optional<Config> config = next();
      if (!config) break;
      propose(*config);
      proposals.push_back(*std::move(config));
    }
    return proposals;
  }

  /// Takes note of an observation; true when it is the first result of that configuration, false when it
  /// revises one. Where a proposal yielded another configuration, the proposed one has failed.
  bool record(const Observation<Config>& observation);

  /// An unknown configuration: the default where it comes first, then uniformly; empty when the space is
  /// exhausted.
  [[nodiscard]] std::optional<Config> random();

  /// `wish` where it is valid, else the nearest valid configuration; where that is known, an unknown one near
  /// it. Empty when the space is exhausted.
  [[nodiscard]] std::optional<Config> repair(Config wish, Rng& rng);

  /// An unknown configuration one step from `from`, or a few where all of those are known; empty when the
  /// space is exhausted.
  [[nodiscard]] std::optional<Config> near(Config from, Rng& rng);

  /// The valid configurations next to `from`, all or, where value lists are long, a random part. Adjacent:
  /// the next position of a list of more than four values, a swap in an order, else any value: what has no
  /// order has no neighbours in it, and of four values or fewer a number often means a mode, not a magnitude.
  [[nodiscard]] std::vector<Config> neighbours(const Config& from, Neighbourhood neighbourhood,
                                               Rng& rng) const;

  /// A random valid neighbour, known or not: a tunable first, then its value. Empty when it has none. (Of an
  /// order any other is as likely, also adjacent.)
  [[nodiscard]] std::optional<Config> neighbour(const Config& from, Neighbourhood neighbourhood,
                                                Rng& rng) const;

 private:
  static constexpr double pending = std::numeric_limits<double>::quiet_NaN();

  [[nodiscard]] Config drawn_step(const Config& from, Neighbourhood neighbourhood, Rng& rng) const;
  bool note(const Config& config, double objective);
  void find_best();
  [[nodiscard]] bool ordered(std::size_t tunable) const;
  [[nodiscard]] bool adjacent(const Config& from, const Config& to) const;

  Space space_;
  RandomSearch random_;
  std::vector<std::size_t> free_;
  std::size_t steps_ = 0;  ///< values that a configuration could change to, over all tunables
  std::unordered_map<Config, double> results_;
  std::vector<Config> proposals_;  ///< by number
  std::set<std::uint64_t> outstanding_;
  std::vector<Config> told_;
  std::optional<Known> best_;
};

}  // namespace kernelsearch::detail

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/ledger_impl.hpp"
#endif
