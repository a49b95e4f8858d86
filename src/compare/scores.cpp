// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "isotonic.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "quantile.hpp"

namespace kernelsearch {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t longest_ratio = ratio_evaluations.back();
using Areas = std::array<double, area_names.size()>;

/// Best so far after each evaluation up to a horizon; at least one entry.
std::vector<double> curve_of(const Landscape& landscape, const Trace& trace, std::uint64_t horizon) {
  std::vector<double> curve;
  double best = infinity;
  for (const std::uint32_t configuration : trace.evaluations) {
    if (curve.size() == horizon) break;
    best = std::min(best, landscape.objective(configuration));
    curve.push_back(best);
  }
  if (curve.empty()) curve.push_back(infinity);
  return curve;
}

/// Turns rank curves of several repeats into areas; what does not depend on the repeats is worked out once.
class AreaScorer {
 public:
  AreaScorer(const Landscape& landscape, std::uint64_t cap) : landscape_(landscape) {
    const std::uint64_t range = std::min(landscape.budget(), cap);
    horizons_ = {range, 20, 40, 60, std::min<std::uint64_t>(range, 200), std::min<std::uint64_t>(range, 300)};
    length_ = *std::max_element(horizons_.begin(), horizons_.end());
    for (std::size_t m = 0; m < length_; ++m) baseline_.push_back(landscape.baseline(m + 1));
  }

  [[nodiscard]] std::uint64_t range() const noexcept { return horizons_[0]; }

  /// Ranks of a curve as far as any area looks.
  [[nodiscard]] std::vector<double> ranks(const std::vector<double>& curve) const {
    std::vector<double> ranks(std::min<std::size_t>(curve.size(), length_));
    for (std::size_t m = 0; m < ranks.size(); ++m)
      ranks[m] =
          m > 0 && curve[m] == curve[m - 1] ? ranks[m - 1] : static_cast<double>(landscape_.rank(curve[m]));
    return ranks;
  }

  /// `chosen` are positions in `repeats`, repeated ones too.
  [[nodiscard]] Areas areas(const std::vector<std::vector<double>>& repeats,
                            const std::vector<std::size_t>& chosen) {
    sums_.assign(length_, 0.0);
    counts_.assign(length_, 0.0);
    for (const std::size_t r : chosen)
      for (std::size_t m = 0; m < repeats[r].size(); ++m) {
        sums_[m] += repeats[r][m];
        counts_[m] += 1.0;
      }
    Areas areas{};
    for (std::size_t h = 0; h < horizons_.size(); ++h) {
      lengths_.clear();
      for (const std::size_t r : chosen)
        lengths_.push_back(static_cast<double>(std::min<std::size_t>(repeats[r].size(), horizons_[h])));
      areas[h] = area(horizons_[h], static_cast<std::size_t>(std::floor(comparing::median(lengths_))));
    }
    return areas;
  }

 private:
  /// For the mean ranks over evaluations 1..horizon, held after `stop`.
  [[nodiscard]] double area(std::size_t horizon, std::size_t stop) {
    stop = std::clamp<std::size_t>(stop, 1, horizon);
    const auto end = static_cast<std::ptrdiff_t>(stop);
    fitted_.resize(stop);
    for (std::size_t m = 0; m < stop; ++m) fitted_[m] = sums_[m] / counts_[m];
    if (!std::is_sorted(fitted_.begin(), fitted_.end()))
      comparing::isotonic_regression(fitted_, {counts_.begin(), counts_.begin() + end});
    double sum = 0.0, terms = 0.0;
    for (std::size_t m = 0; m < horizon; ++m) {
      const double gap = baseline_[m] - landscape_.best();
      if (!(gap > 0)) continue;  // random search is at the optimum
      const double rank = std::clamp(std::nearbyint(fitted_[std::min(m, stop - 1)]), 0.0,
                                     static_cast<double>(landscape_.valid() - 1));
      sum += (baseline_[m] - landscape_.at_rank(static_cast<std::size_t>(rank))) / gap;
      terms += 1.0;
    }
    return sum / terms;
  }

  const Landscape& landscape_;
  std::array<std::uint64_t, area_names.size()> horizons_{};
  std::size_t length_ = 0;
  std::vector<double> baseline_;
  std::vector<double> sums_, counts_, lengths_, fitted_;  ///< kept to spare allocations
};

/// Evaluations until the curve is at `target` or better.
double evaluations_to(const std::vector<double>& curve, double target) {
  const auto found = std::find_if(curve.begin(), curve.end(), [&](double best) { return best <= target; });
  return found == curve.end() ? infinity : static_cast<double>(found - curve.begin() + 1);
}

double share_reached(const std::vector<double>& evaluations) {
  const auto reached =
      std::count_if(evaluations.begin(), evaluations.end(), [](double n) { return n < infinity; });
  return static_cast<double>(reached) / static_cast<double>(evaluations.size());
}

struct SpaceResult {
  SpaceScores scores;
  std::vector<Areas> resampled;
};

SpaceResult score_space(const Landscape& landscape, const std::vector<const Trace*>& traces,
                        const ScoreOptions& options) {
  AreaScorer scorer(landscape, options.cap);
  SpaceResult result;
  SpaceScores& s = result.scores;
  s.space = landscape.name();
  s.repeats = traces.size();
  s.budget = landscape.budget();
  s.range = scorer.range();

  std::vector<std::vector<double>> ranks;
  std::vector<double> lengths, n5, n1;
  std::optional<std::uint64_t> limit;
  double policy_seconds = 0.0;
  std::uint64_t timed = 0;
  for (const Trace* trace : traces) {
    const std::vector<double> curve = curve_of(landscape, *trace, std::max(options.cap, longest_ratio));
    ranks.push_back(scorer.ranks(curve));
    lengths.push_back(static_cast<double>(curve.size()));
    n5.push_back(evaluations_to(curve, landscape.best() * 1.05));
    n1.push_back(evaluations_to(curve, landscape.best() * 1.01));
    for (std::size_t k = 0; k < ratio_evaluations.size(); ++k) {
      const double best = curve[std::min<std::size_t>(ratio_evaluations[k], curve.size()) - 1];
      s.ratios[k] += (best < infinity ? landscape.best() / best : 0.0) / static_cast<double>(traces.size());
    }
    if (trace->cap) limit = std::min(limit.value_or(*trace->cap), *trace->cap);
    if (trace->policy_seconds) {
      policy_seconds += *trace->policy_seconds;
      timed += trace->evaluations.size();
    }
    s.dropped_repeats += trace->dropped_repeats;
    s.dropped_unknown += trace->dropped_unknown;
    s.dropped_outside += trace->dropped_outside;
    s.ended_early += trace->ended_early ? 1 : 0;
  }
  s.median_length = comparing::median(lengths);
  s.truncated = limit && *limit < s.range && s.median_length >= static_cast<double>(*limit);
  s.stopped_early = s.median_length < static_cast<double>(s.range) && !s.truncated;
  s.n5 = comparing::median(n5);
  s.n1 = comparing::median(n1);
  s.n5_reached = share_reached(n5);
  s.n1_reached = share_reached(n1);
  if (timed > 0) s.policy_ms_per_evaluation = 1e3 * policy_seconds / static_cast<double>(timed);

  std::vector<std::size_t> chosen(traces.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  const Areas point = scorer.areas(ranks, chosen);
  for (std::size_t h = 0; h < point.size(); ++h) s.areas[h].value = point[h];
  Rng rng = Rng::stream(options.seed, traces.front()->strategy + "\n" + landscape.name());
  for (std::size_t b = 0; b < options.bootstrap; ++b) {
    for (std::size_t& r : chosen) r = rng.below(traces.size());
    result.resampled.push_back(scorer.areas(ranks, chosen));
  }
  return result;
}

/// The middle 95 % of each area in `resampled`.
void set_intervals(Scores& scores, const std::vector<Areas>& resampled) {
  if (resampled.empty()) return;
  std::vector<double> values(resampled.size());
  for (std::size_t h = 0; h < area_names.size(); ++h) {
    for (std::size_t b = 0; b < resampled.size(); ++b) values[b] = resampled[b][h];
    std::sort(values.begin(), values.end());
    scores.areas[h].interval =
        Interval{comparing::sorted_quantile(values, 0.025), comparing::sorted_quantile(values, 0.975)};
  }
}

PolicyScores score_policy(const std::string& strategy, std::span<const Landscape> landscapes,
                          const std::vector<std::vector<const Trace*>>& by_space,
                          const ScoreOptions& options) {
  PolicyScores policy;
  policy.strategy = strategy;
  std::vector<Areas> mean(options.bootstrap, Areas{});
  for (std::size_t i = 0; i < landscapes.size(); ++i) {
    if (by_space[i].empty()) continue;
    SpaceResult result = score_space(landscapes[i], by_space[i], options);
    set_intervals(result.scores, result.resampled);
    for (std::size_t b = 0; b < mean.size(); ++b)
      for (std::size_t h = 0; h < area_names.size(); ++h) mean[b][h] += result.resampled[b][h];
    policy.spaces.push_back(std::move(result.scores));
  }
  const auto count = static_cast<double>(policy.spaces.size());
  for (Areas& areas : mean)
    for (double& area : areas) area /= count;
  set_intervals(policy, mean);

  std::vector<double> n5, n1, milliseconds;
  for (const SpaceScores& s : policy.spaces) {
    for (std::size_t h = 0; h < area_names.size(); ++h) policy.areas[h].value += s.areas[h].value / count;
    for (std::size_t k = 0; k < s.ratios.size(); ++k) policy.ratios[k] += s.ratios[k] / count;
    n5.push_back(s.n5);
    n1.push_back(s.n1);
    policy.n5_reached += s.n5_reached / count;
    policy.n1_reached += s.n1_reached / count;
    if (s.policy_ms_per_evaluation) milliseconds.push_back(*s.policy_ms_per_evaluation);
  }
  policy.n5 = comparing::median(n5);
  policy.n1 = comparing::median(n1);
  if (!milliseconds.empty())
    policy.policy_ms_per_evaluation = std::accumulate(milliseconds.begin(), milliseconds.end(), 0.0) /
                                      static_cast<double>(milliseconds.size());
  return policy;
}

}  // namespace

Misuse misuse_of(const PolicyScores& policy) {
  Misuse misuse;
  for (const SpaceScores& s : policy.spaces) {
    misuse.repeats += s.dropped_repeats;
    misuse.outside += s.dropped_outside;
    misuse.unrecorded += s.dropped_unknown - std::min(s.dropped_unknown, s.dropped_outside);
    misuse.early += s.ended_early;
    misuse.runs += s.repeats;
  }
  return misuse;
}

std::vector<PolicyScores> score(std::span<const Landscape> landscapes, std::span<const Trace> traces,
                                const ScoreOptions& options) {
  std::map<std::string, std::size_t, std::less<>> number;
  for (std::size_t i = 0; i < landscapes.size(); ++i) number.emplace(landscapes[i].name(), i);
  std::vector<std::string> strategies;
  std::map<std::string, std::vector<std::vector<const Trace*>>, std::less<>> sorted;
  for (const Trace& trace : traces) {
    const auto space = number.find(trace.space);
    if (space == number.end())
      detail::raise<ConfigError>("a trace is of an unknown space", trace.space, "give its recording too");
    auto& by_space = sorted[trace.strategy];
    if (by_space.empty()) {
      by_space.resize(landscapes.size());
      strategies.push_back(trace.strategy);
    }
    by_space[space->second].push_back(&trace);
  }
  std::vector<PolicyScores> scores;
  for (const std::string& strategy : strategies)
    scores.push_back(score_policy(strategy, landscapes, sorted[strategy], options));
  return scores;
}

std::array<double, area_names.size()> area_scores(const Landscape& landscape, const Trace& trace,
                                                  const ScoreOptions& options) {
  AreaScorer scorer(landscape, options.cap);
  return scorer.areas({scorer.ranks(curve_of(landscape, trace, std::max(options.cap, longest_ratio)))}, {0});
}

}  // namespace kernelsearch
