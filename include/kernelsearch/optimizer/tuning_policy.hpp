// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernelsearch/optimizer/kernel_tuning.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/carried_over.hpp"
#include "kernelsearch/space/config.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// For `TuningPolicy`; see `TunedOptions`.
struct TuningPolicyOptions {
  std::size_t carried = 3;
  std::uint64_t hopeless = 16;
};

/// Searches one kernel's space with policy `P`, from what is known of kernels like it: first the kernel's own
/// settings, then the best few of each earlier tuning, then what `P` proposes. When all of those first ones
/// are told, `P` is told the other outcomes of those earlier tunings that are `told` as foreign ones, their
/// times in proportion to this kernel's; until then what it cannot judge yet is left to the earlier tunings'
/// next best. Those that are `learned` it was made with (`PolicySetup::earlier`). It ends when the first
/// `hopeless` proposals brought nothing right.
template <SearchPolicy P>
requires std::same_as<typename P::Proposal, Config>
class TuningPolicy {
 public:
  using Proposal = Config;

  /// `own` are the kernel's own settings, best first; `told` and `learned` tunings to start from, nearest
  /// first.
  TuningPolicy(P policy, const Space& space, std::span<const Config> own,
               std::span<const std::shared_ptr<const KernelTuning>> told, TuningPolicyOptions options = {},
               std::span<const std::shared_ptr<const KernelTuning>> learned = {})
      : policy_(std::move(policy)), options_(options) {
    for (const Config& config : own) start_with(config, space);
    for (const auto& tuning : told) add(*tuning, space, false);
    for (const auto& tuning : learned) add(*tuning, space, true);
    for (std::size_t rank = 0; rank < options_.carried; ++rank)
      for (const Source& source : sources_)
        if (rank < source.best.size()) start_with(source.best[rank], space);
  }

  std::vector<Config> ask(std::size_t n) {
    std::vector<Config> proposals;
    while (proposals.size() < n && !given_up()) {
      std::optional<Proposed> next = take();
      if (!next) break;
      tried_.insert(next->config);
      proposals.push_back(next->config);
      proposed_.push_back(*std::move(next));
    }
    return proposals;
  }

  void tell(std::span<const Observation<Config>> batch) {
    for (const Observation<Config>& observation : batch) {
      Observation<Config> theirs = observation;
      if (auto& origin = theirs.outcome.origin) {
        const std::uint64_t id = number(origin->proposal);
        const bool ours = id < proposed_.size();
        if (ours && !std::exchange(proposed_[id].told, true) && id < starts_.size()) ++starts_told_;
        if (ours && proposed_[id].theirs)
          origin->proposal = ProposalId{*proposed_[id].theirs};
        else
          origin.reset();
      }
      right_ = right_ || theirs.outcome.ok();
      if (theirs.outcome.ok()) best_ = std::min(best_, theirs.outcome.objective);
      policy_.tell(std::span<const Observation<Config>>(&theirs, 1));
      for (Source& source : sources_) compare(source, theirs);
    }
    if (starts_told_ == starts_.size())
      for (Source& source : sources_) pass_on(source);
  }

  bool await() requires AwaitingPolicy<P> { return !given_up() && policy_.await(); }

  [[nodiscard]] P& policy() noexcept { return policy_; }

  /// Whether nothing was right for so long that nothing will be.
  [[nodiscard]] bool given_up() const {
    return options_.hopeless != 0 && !right_ && proposed_.size() >= options_.hopeless;
  }

 private:
  struct Proposed {
    Config config;
    std::optional<std::uint64_t> theirs;  ///< its number among the proposals of `P`
    bool told = false;
  };
  /// An earlier tuning in this kernel's space, best first.
  struct Source {
    std::vector<Config> best;  ///< the first few, those too that are not configurations here, carried over
    std::vector<TunedPoint> points;
    std::unordered_map<Config, double> objectives;
    std::vector<double> ratios;  ///< this kernel's times by the earlier one's
    std::size_t next = 0;        ///< of `points`, to be looked at
    bool passed_on = false;      ///< the policy knows it
  };

  void start_with(const Config& config, const Space& space) {
    if (space.contains(config) && std::find(starts_.begin(), starts_.end(), config) == starts_.end())
      starts_.push_back(config);
  }

  void add(const KernelTuning& tuning, const Space& space, bool learned) {
    const Space& from = tuning.kernel->space;
    Source source;
    source.passed_on = learned;
    for (const TunedPoint& point : points_in(tuning, from))
      if (right(point) && source.best.size() < options_.carried)
        source.best.push_back(carried_over(from, point.config, space));
    // Why a kernel failed everywhere says nothing of one that was repaired.
    if (std::none_of(tuning.points.begin(), tuning.points.end(), right)) return;
    source.points = points_in(tuning, space);
    for (const TunedPoint& point : source.points)
      if (right(point)) source.objectives.emplace(point.config, point.seconds);
    sources_.push_back(std::move(source));
  }

  std::optional<Proposed> take() {
    if (next_start_ < starts_.size()) return Proposed{starts_[next_start_++], {}};
    if (starts_told_ < starts_.size())
      if (auto known = next_known(true)) return known;
    while (true) {
      std::vector<Config> asked = policy_.ask(1);
      // To what it was told the policy does not come back.
      if (asked.empty()) return next_known(false);
      const std::uint64_t theirs = asked_++;
      if (!tried_.contains(asked.front())) return Proposed{std::move(asked.front()), theirs};
      // It is out already: what comes of it is what comes of the policy's own.
      for (Proposed& proposed : proposed_)
        if (proposed.config == asked.front()) proposed.theirs = theirs;
    }
  }

  /// The next of the earlier tunings' configurations, those that were right there or any.
  std::optional<Proposed> next_known(bool right_ones) {
    for (Source& source : sources_)
      for (; source.next < source.points.size(); ++source.next) {
        const TunedPoint& point = source.points[source.next];
        if (right_ones && !right(point)) break;
        if (!tried_.contains(point.config)) return Proposed{point.config, {}};
      }
    return std::nullopt;
  }

  void compare(Source& source, const Observation<Config>& observation) {
    if (!observation.outcome.ok() || source.passed_on) return;
    const auto known = source.objectives.find(observation.proposal);
    if (known != source.objectives.end() && known->second > 0)
      source.ratios.push_back(observation.outcome.objective / known->second);
  }

  /// Tells the policy what an earlier tuning found, once it is known how this kernel's times compare.
  void pass_on(Source& source) {
    if (source.passed_on || source.ratios.empty()) return;
    source.passed_on = true;
    auto middle = source.ratios.begin() + static_cast<std::ptrdiff_t>(source.ratios.size() / 2);
    std::nth_element(source.ratios.begin(), middle, source.ratios.end());
    // From the worst to the best: policies that count outcomes without a gain have not stood still so.
    for (auto point = source.points.rbegin(); point != source.points.rend(); ++point) {
      if (tried_.contains(point->config) || !passed_on_.insert(point->config).second) continue;
      Observation<Config> observation{point->config, {}};
      // Foreign trials count down from the top: those of this search count up.
      observation.outcome.id = TrialId{std::numeric_limits<std::uint64_t>::max() - foreign_++};
      if (right(*point)) {
        // What was not measured is not to be taken for the best.
        observation.outcome.objective = std::max(best_, point->seconds * *middle);
        observation.outcome.evaluation = Evaluation::succeeded(observation.outcome.objective);
      } else {
        observation.outcome.evaluation = Evaluation::failed(point->verdict, "failed in an earlier tuning");
      }
      policy_.tell(std::span<const Observation<Config>>(&observation, 1));
    }
  }

  P policy_;
  TuningPolicyOptions options_;
  std::vector<Config> starts_;
  std::vector<Source> sources_;
  std::size_t next_start_ = 0;
  std::size_t starts_told_ = 0;
  std::vector<Proposed> proposed_;
  std::unordered_set<Config> tried_;      ///< proposed here
  std::unordered_set<Config> passed_on_;  ///< told of earlier tunings
  std::uint64_t asked_ = 0;               ///< proposals that the policy made
  std::uint64_t foreign_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
  bool right_ = false;
};

}  // namespace kernelsearch
