// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <vector>

#include "kernelsearch/core/measurement.hpp"
#include "kernelsearch/evaluator/judging_options.hpp"
#include "kernelsearch/evaluator/sampling.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail {

/// How the times of the problem's shapes become one.
[[nodiscard]] inline Combine combine_of(const Problem& problem) noexcept {
  return problem.aggregate == Aggregate::geometric_mean ? Combine::geometric_mean : Combine::weighted_sum;
}

/// When a measurement is finished; the same object decides for the default, the candidates, the finalists and
/// the reference, on every backend (compare nvbench's stopping criterion).
class SamplingRule {
 public:
  /// A candidate is called slower only once every shape has this many samples.
  static constexpr std::size_t least_of_slower = 3;

  explicit SamplingRule(const SamplingOptions& options) : options_(options) {}

  /// Why this shape needs no further samples; nothing while it does. `elapsed`: seconds spent on it so far.
  [[nodiscard]] std::optional<SamplingEnd> of_shape(const ShapeMeasurement& shape, double elapsed) const {
    return sampling_end(shape.samples, elapsed, options_);
  }

  /// Whether what was measured so far is surely slower than the incumbent, in seconds.
  [[nodiscard]] bool is_slower(const Measurement& measurement, std::optional<double> incumbent) const {
    return incumbent &&
           std::all_of(
               measurement.shapes.begin(), measurement.shapes.end(),
               [](const ShapeMeasurement& shape) { return shape.samples.size() >= least_of_slower; }) &&
           measurement.interval.low > *incumbent * (1 + options_.slower_margin);
  }

 private:
  SamplingOptions options_;
};

/// In which order the shapes of a problem are sampled.
enum class SamplingOrder : std::uint8_t {
  interleaved,     ///< a round of each shape in turn, so that a drift of the machine meets all of them
  shape_by_shape,  ///< where changing the shape takes longer than a round
};

/// What timers that need none of these hooks inherit.
struct PlainSampleTimer {
  /// Called after a round of every shape that is still sampled; the kind of fault is the timer's.
  template <class Fault>
  [[nodiscard]] std::optional<Fault> after_rounds() {
    return std::nullopt;
  }
  /// Whether the samples of the last round of the shape count.
  [[nodiscard]] bool counts(std::size_t /*shape*/) { return true; }
  /// The last word on whether a shape is finished, after `rounds` rounds; `end` is what the rule says.
  [[nodiscard]] std::optional<SamplingEnd> ended(std::size_t /*shape*/, const ShapeMeasurement& /*so_far*/,
                                                 std::size_t /*rounds*/, std::optional<SamplingEnd> end) {
    return end;
  }
};

/// Samples the shapes of one candidate until each has a tight interval, its budget is spent, or the candidate
/// is surely slower than the incumbent: the one sampling loop of all evaluators. `Timer` is a
/// `PlainSampleTimer` with
///   std::optional<Fault> sample(shape, so_far, samples)   times one round and appends seconds per call,
///   double elapsed(shape)                                 seconds spent on the shape so far.
template <class Fault, class Timer>
class Sampler {
 public:
  Sampler(const Problem& problem, const SamplingOptions& options, SamplingOrder order, Timer& timer)
      : problem_(problem), rule_(options), order_(order), timer_(timer) {}

  /// Measures every shape that has weight; sets the shapes of the measurement and their combination. A stop
  /// ends it after the round at hand.
  [[nodiscard]] std::optional<Fault> run(Measurement& measurement, std::optional<double> incumbent,
                                         const std::stop_token& stop) {
    std::vector<Open> open;
    measurement.shapes.clear();
    for (std::size_t s = 0; s < problem_.shapes.size(); ++s) {
      if (problem_.shapes[s].weight <= 0) continue;
      ShapeMeasurement shape;
      shape.shape = problem_.shapes[s].name;
      shape.weight = problem_.shapes[s].weight;
      measurement.shapes.push_back(std::move(shape));
      open.push_back({s, measurement.shapes.size() - 1, 0, {}});
    }
    if (order_ == SamplingOrder::interleaved) return sample(open, measurement, incumbent, stop);
    while (!open.empty()) {
      std::vector<Open> one{open.front()};
      open.erase(open.begin());
      // What the others take is not known yet.
      const auto known = open.empty() && measurement.shapes.size() == 1 ? incumbent : std::nullopt;
      if (auto fault = sample(one, measurement, known, stop)) return fault;
    }
    return std::nullopt;
  }

  /// Measures one shape of the measurement again, from nothing.
  [[nodiscard]] std::optional<Fault> again(std::size_t shape, std::size_t index, Measurement& measurement) {
    measurement.shapes[index].samples.clear();
    std::vector<Open> one{{shape, index, 0, {}}};
    return sample(one, measurement, std::nullopt, {});
  }

 private:
  /// A shape that needs further samples.
  struct Open {
    std::size_t shape = 0, index = 0;  ///< in the problem, in the measurement
    std::size_t rounds = 0;
    std::vector<double> taken;  ///< in the round at hand
  };

  [[nodiscard]] std::optional<Fault> sample(std::vector<Open>& open, Measurement& measurement,
                                            std::optional<double> incumbent, const std::stop_token& stop) {
    while (!open.empty()) {
      for (Open& one : open) {
        one.taken.clear();
        if (auto fault = timer_.sample(one.shape, measurement.shapes[one.index], one.taken)) return fault;
        ++one.rounds;
      }
      if (auto fault = timer_.template after_rounds<Fault>()) return fault;
      std::erase_if(open, [&](Open& one) { return finished(one, measurement.shapes[one.index], stop); });
      combine_shapes(measurement, combine_of(problem_));
      if (!rule_.is_slower(measurement, incumbent)) continue;
      for (const Open& one : open) measurement.shapes[one.index].ended = SamplingEnd::slower;
      break;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool finished(Open& one, ShapeMeasurement& shape, const std::stop_token& stop) {
    if (timer_.counts(one.shape)) {
      shape.samples.insert(shape.samples.end(), one.taken.begin(), one.taken.end());
      summarize(shape);
    }
    if (shape.samples.empty()) return false;
    if (stop.stop_requested()) {
      shape.ended = SamplingEnd::budget;
      return true;
    }
    const auto end =
        timer_.ended(one.shape, shape, one.rounds, rule_.of_shape(shape, timer_.elapsed(one.shape)));
    if (end) shape.ended = *end;
    return end.has_value();
  }

  const Problem& problem_;
  SamplingRule rule_;
  SamplingOrder order_;
  Timer& timer_;
};

}  // namespace kernelsearch::detail
