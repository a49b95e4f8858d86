// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "judge/sampler.hpp"
#include "kernelsearch/core/impl/steady_seconds.hpp"
#include "kernelsearch/core/measurement.hpp"
#include "kernelsearch/evaluator/judging_options.hpp"
#include "kernelsearch/evaluator/sampling.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail {

/// Seconds of a call that its check has warmed up, and about which its check has said what a batch would.
inline constexpr double long_call = 0.02;

/// Where code and arrays lie in memory is drawn anew in each process, and was seen to be worth 1 to 7 %, the
/// most for arrays that fill a cache. Pairs of one round cannot show it, so it is added to their interval:
/// half its width at 95 %, relative (docs/benchmarks/judge.md, `judge_bench aa`).
inline constexpr double between_processes = 0.07;

/// Likewise of a trial's pairs on a GPU, where both sides are in one process.
inline constexpr double between_modules = 0.01;

/// The same of two candidates whose modules were loaded one after the other: of 480 intervals of equal
/// kernels 22 missed 1, most of them sweeps whose intervals are 0.1 % wide and lay that far off.
inline constexpr double between_candidates = 0.002;

/// When the pairs of one shape in one pair of processes are enough. It looks at the interval rarely: a rule
/// that looks after every pair stops where the interval is narrow by chance.
class PairingRule {
 public:
  /// No interval is asked for with fewer pairs.
  static constexpr std::size_t first_look = 6;
  /// The budget ends nothing before there are this many pairs.
  static constexpr std::size_t least_of_budget = 3;

  explicit PairingRule(const PairOptions& options)
      : options_(options), look_(std::max(options.min_pairs, first_look)) {}

  /// `elapsed`: seconds since the first of these pairs.
  [[nodiscard]] bool enough(const PairedTimes& pairs, double elapsed) {
    const std::size_t count = pairs.candidate.size();
    if (count >= options_.max_pairs) return true;
    if (count >= least_of_budget && elapsed > options_.budget_seconds) return true;
    if (count < look_) return false;
    look_ = count + std::max<std::size_t>(2, count / 3);
    const Speedup now = paired_speedup(pairs);
    return now.interval.high - now.interval.low <= 2 * options_.precision * now.ratio;
  }

 private:
  PairOptions options_;
  std::size_t look_;
};

/// Interleaved pairs of a candidate and what it is compared with (reference, default, parent, champion), over
/// all shapes of weight and over rounds of fresh processes: the one pairing loop of all evaluators.
class Pairs {
 public:
  /// `options` are for all rounds together.
  Pairs(const Problem& problem, const PairOptions& options)
      : problem_(problem), options_(each_round(options)), rounds_(std::max<std::size_t>(options.rounds, 1)) {}

  /// Whether a further round of processes is wanted.
  [[nodiscard]] bool wants_round() const {
    if (round_ >= rounds_ || options_.stop.stop_requested()) return false;
    return round_ < least_rounds || !(starting_ > most_starting() || is_plain());
  }
  /// For rounds that count, those that were begun.
  [[nodiscard]] std::size_t round() const noexcept { return round_; }
  [[nodiscard]] std::size_t rounds() const noexcept { return rounds_; }
  [[nodiscard]] const std::stop_token& stop() const noexcept { return options_.stop; }
  /// Tells how long it took to start the processes of a round: where that is most of the time, fewer rounds
  /// must do.
  void started(double seconds) noexcept { starting_ += seconds; }
  /// What was taken so far cannot be put next to what follows: both sides are timed in another way from now
  /// on.
  void start_over() {
    shapes_.clear();
    round_ = 0;
  }

  /// One round: `timer.pair(shape, count, pairs)` times `count` pairs and appends them,
  /// `timer.warm_up(shape)` comes before. Both return an optional fault, which ends the round.
  template <class Fault, class Timer>
  [[nodiscard]] std::optional<Fault> take_round(Timer&& timer) {
    std::size_t timed = 0;
    for (std::size_t s = 0; s < problem_.shapes.size(); ++s) {
      if (problem_.shapes[s].weight <= 0 || !timer.has(s)) continue;
      const double begin = steady_seconds();
      if (auto fault = timer.warm_up(s)) return fault;
      PairedTimes pairs;
      PairingRule rule(options_);
      while (!options_.stop.stop_requested()) {
        const std::size_t before = pairs.candidate.size();
        if (auto fault = timer.pair(s, before, pairs)) return fault;
        if (pairs.candidate.size() == before || rule.enough(pairs, steady_seconds() - begin)) break;
      }
      add(timed++, problem_.shapes[s].weight, pairs.reference, pairs.candidate);
    }
    ++round_;
    return std::nullopt;
  }

  /// Appends a round of the `index`-th timed shape that was taken elsewhere: seconds per call of both sides.
  void add(std::size_t index, double weight, std::span<const double> reference,
           std::span<const double> candidate) {
    if (shapes_.size() <= index) shapes_.resize(index + 1);
    PairedTimes& all = shapes_[index];
    const auto count = static_cast<std::ptrdiff_t>(std::min(reference.size(), candidate.size()));
    all.weight = weight;
    all.rounds.push_back(all.reference.size());
    all.reference.insert(all.reference.end(), reference.begin(), reference.begin() + count);
    all.candidate.insert(all.candidate.end(), candidate.begin(), candidate.begin() + count);
  }

  /// Whether every shape has its pairs; after a stop as many as an interval needs.
  [[nodiscard]] bool complete() const {
    const std::size_t least = options_.stop.stop_requested() ? PairingRule::first_look : 1;
    return !shapes_.empty() && std::all_of(shapes_.begin(), shapes_.end(), [least](const PairedTimes& shape) {
      return shape.reference.size() >= least;
    });
  }

  /// The speedup over all shapes; none without pairs of each. `within`: sets that of each shape.
  [[nodiscard]] Speedup speedup(Measurement* within = nullptr) const {
    if (!complete()) return {};
    if (within != nullptr)
      for (std::size_t i = 0; i < std::min(shapes_.size(), within->shapes.size()); ++i)
        within->shapes[i].speedup = told(paired_speedup(shapes_[i]), shapes_[i].rounds.size());
    return told(combined_speedup(shapes_, combine_of(problem_)), shapes_.front().rounds.size());
  }

  /// Where code and arrays lie in memory is drawn anew in every process, and one pair of processes cannot
  /// show what that is worth: half the width of a 95 % interval that is added for it, relative (0: nothing).
  /// Where one process scatters by more than that, processes are taken to differ by as much.
  void assume_between_processes(double half_width) noexcept { between_ = half_width; }

 private:
  [[nodiscard]] static PairOptions each_round(PairOptions options) {
    const std::size_t rounds = std::max<std::size_t>(options.rounds, 1);
    options.min_pairs = (options.min_pairs + rounds - 1) / rounds;
    options.max_pairs = std::max<std::size_t>((options.max_pairs + rounds - 1) / rounds, 1);
    options.budget_seconds /= static_cast<double>(rounds);
    options.precision *= std::sqrt(static_cast<double>(rounds));  // all of them together are finer
    return options;
  }

  /// Before these nothing but a stop ends the rounds early.
  static constexpr std::size_t least_rounds = 3;
  static constexpr double plain = 1.25;

  /// Whether the interval, as wide as few rounds make it, is nowhere near 1. That of equal kernels is not.
  [[nodiscard]] bool is_plain() const {
    const Speedup now = speedup();
    return now.pairs > 0 && (now.interval.low > plain || now.interval.high < 1 / plain);
  }

  [[nodiscard]] double most_starting() const {
    const auto timed = std::count_if(problem_.shapes.begin(), problem_.shapes.end(),
                                     [](const Shape& shape) { return shape.weight > 0; });
    return 4 * options_.budget_seconds * static_cast<double>(rounds_) * static_cast<double>(timed);
  }

  [[nodiscard]] Speedup told(Speedup speedup, std::size_t rounds) const {
    if (rounds > 1 || between_ <= 0 || !(speedup.ratio > 0)) return speedup;
    const double between = std::max(between_, std::log(speedup.interval.high / speedup.interval.low) / 2);
    const auto widened = [&](double end, double sign) {
      const double seen = std::log(end / speedup.ratio);
      return speedup.ratio * std::exp(sign * std::sqrt(seen * seen + between * between));
    };
    speedup.interval = {widened(speedup.interval.low, -1), widened(speedup.interval.high, 1)};
    return speedup;
  }

  const Problem& problem_;
  PairOptions options_;  ///< of one round
  std::size_t rounds_, round_ = 0;
  double starting_ = 0, between_ = 0;
  std::vector<PairedTimes> shapes_;
};

/// Pairs of two sides that are timed one call or batch at a time, A B B A, so that a drift of the machine
/// meets both alike. A side has `estimate(shape)`, in seconds, and `time_once(shape, about, seconds)`, which
/// makes the batch that suits calls of `about` seconds.
template <class Fault, class Ours, class Theirs>
class AlternatingTimer {
 public:
  AlternatingTimer(Ours& ours, Theirs& theirs) : ours_(ours), theirs_(theirs) {}

  [[nodiscard]] static bool has(std::size_t) { return true; }

  [[nodiscard]] std::optional<Fault> warm_up(std::size_t shape) {
    if (ours_.estimate(shape) >= long_call) return std::nullopt;
    double ignored = 0;
    const auto [about_ours, about_theirs] = planned(shape);
    if (auto fault = theirs_.time_once(shape, about_theirs, ignored)) return fault;
    return ours_.time_once(shape, about_ours, ignored);
  }

  [[nodiscard]] std::optional<Fault> pair(std::size_t shape, std::size_t before, PairedTimes& pairs) {
    double ours = 0, theirs = 0;
    const bool theirs_first = before % 2 == 0;
    const auto [about_ours, about_theirs] = planned(shape);
    if (theirs_first)
      if (auto fault = theirs_.time_once(shape, about_theirs, theirs)) return fault;
    if (auto fault = ours_.time_once(shape, about_ours, ours)) return fault;
    if (!theirs_first)
      if (auto fault = theirs_.time_once(shape, about_theirs, theirs)) return fault;
    pairs.reference.push_back(theirs);
    pairs.candidate.push_back(ours);
    return std::nullopt;
  }

 private:
  /// Sides that differ by more are each timed in batches of their own.
  static constexpr double comparable = 4;

  /// By what the batches of either side are planned. In a batch of few calls each is slower than in one of
  /// many: with a batch of two and one of three, equal kernels were seen to differ by 8 %. So sides that take
  /// about as long have the same batches, those of the faster one.
  [[nodiscard]] std::pair<double, double> planned(std::size_t shape) const {
    const double ours = ours_.estimate(shape), theirs = theirs_.estimate(shape),
                 less = std::min(ours, theirs);
    if (std::max(ours, theirs) > comparable * less) return {ours, theirs};
    return {less, less};
  }

  Ours& ours_;
  Theirs& theirs_;
};

}  // namespace kernelsearch::detail
