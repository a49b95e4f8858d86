// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <future>

#include "evaluator/gpu/device_worker.hpp"
#include "evaluator/gpu/device_worker_parts.hpp"
#include "kernelsearch/problem/evaluate.hpp"

namespace kernelsearch::detail::gpu {

double DeviceWorker::floor_seconds(std::size_t shape) const {
  // A margin of a tenth: clocks are what the device says, and counts are the problem's.
  constexpr double margin = 0.9;
  double floor = 0;
  const Shape& sizes = problem_.shapes[shape];
  if (problem_.operations && device_.peak_operations() > 0)
    floor = to_number(kernelsearch::evaluate(*problem_.operations, sizes)) / device_.peak_operations();
  if (problem_.bytes && device_.peak_bandwidth() > 0 && options_.cache == CacheMode::cold) {
    // What was written may stay in the cache.
    const double bytes =
        to_number(kernelsearch::evaluate(*problem_.bytes, sizes)) -
        std::min(static_cast<double>(device_.l2), static_cast<double>(output_bytes(plans_[shape])));
    floor = std::max(floor, bytes / device_.peak_bandwidth());
  }
  return margin * floor;
}

std::vector<bool> DeviceWorker::some_of(std::size_t count) {
  std::vector<bool> chosen(count, false);
  for (std::size_t left = std::max<std::size_t>(1, count / 4); left > 0;)
    if (const auto i = static_cast<std::size_t>(rng_.below(count)); !chosen[i]) {
      chosen[i] = true;
      --left;
    }
  return chosen;
}

std::optional<Fault> DeviceWorker::batch(Subject& subject, std::size_t shape, std::size_t count,
                                         std::vector<double>& samples) {
  ShapeState& state = subject.shapes[shape];
  count = std::min(count, slots(shape));
  std::size_t first = 0;
  if (auto fault = make_room(shape, count, first)) return fault;
  const auto set = referee_.for_timing(shape);
  const std::vector<bool> known = some_of(count);
  if (auto fault = hold_made(shape, set->seed, set->flavour)) return fault;
  std::vector<Action> actions;
  const std::uint64_t poison = rng_();
  stage(actions, shape, set->seed);
  // Each call's inputs come just before it and its outputs are looked at just after it: no call can do the
  // work of a later one, or leave its own to it.
  for (std::size_t i = 0; i < count; ++i) {
    const auto seed = known[i] ? std::optional(set->seed) : std::nullopt;
    fill_turned(actions, shape, first + i, seed, poison + i);
    prepare(actions, shape, first + i);
    call(actions, subject, shape, first + i, true);
    inspect(actions, subject, shape, first + i, poison + i);
  }
  Act::Reply done;
  const double limit = options_.limits.call + 20 * state.estimate * static_cast<double>(count);
  if (auto fault = send(std::move(actions), limit, done)) {
    fault->reason += " (timed calls, shape " + problem_.shapes[shape].name + ")";
    return fault;
  }
  std::size_t at = 0;
  std::vector<std::uint64_t> results(count);
  for (std::size_t i = 0; i < count; ++i)
    if (auto fault = judged(done.values, at, shape, results[i])) {
      fault->reason = "in a timed call, " + fault->reason;
      return fault;
    }
  // What equals a result that the referee looks at need not be looked at.
  std::unordered_set<std::uint64_t> seen;
  for (std::size_t i = 0; i < count; ++i)
    if (known[i] && seen.insert(results[i]).second)
      pending_.push_back({set, first + i, results[i], true, state.results.contains(results[i])});
  held_[shape] = first + count;
  state.results.insert(results.begin(), results.end());
  samples.insert(samples.end(), done.seconds.begin(), done.seconds.end());
  state.estimate = median(done.seconds);
  return std::nullopt;
}

std::optional<Fault> DeviceWorker::measure(Subject& subject, Measurement& measurement, Features& features,
                                           const EvaluationContext& context) {
  constexpr double batch_seconds = 0.02, flush_seconds = 60e-6, filled_per_second = 5e11;
  const Combine combine =
      problem_.aggregate == Aggregate::geometric_mean ? Combine::geometric_mean : Combine::weighted_sum;
  std::vector<std::size_t> shapes;
  measurement.shapes.clear();
  for (std::size_t s = 0; s < plans_.size(); ++s) {
    if (!timed(s)) continue;
    ShapeMeasurement shape;
    shape.shape = problem_.shapes[s].name;
    shape.weight = problem_.shapes[s].weight;
    measurement.shapes.push_back(std::move(shape));
    shapes.push_back(s);
  }
  std::vector<bool> done(shapes.size(), false);
  std::size_t discarded = 0;
  while (std::find(done.begin(), done.end(), false) != done.end()) {
    std::vector<std::vector<double>> taken(shapes.size());
    std::vector<std::future<std::optional<DeviceState>>> states(shapes.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (done[i]) continue;
      ShapeState& state = subject.shapes[shapes[i]];
      const ShapeMeasurement& shape = measurement.shapes[i];
      const double begin = monotonic_seconds();
      // What looks surely slower gets a few samples to be sure of it, what looks slower some, not a full
      // batch.
      const double over = context.incumbent && shape.samples.empty() && shapes.size() == 1
                              ? state.estimate / (*context.incumbent * (1 + options_.sampling.slower_margin))
                              : 0.0;
      const bool hopeless = over > 1.25;
      const double each = state.estimate + flush_seconds +
                          static_cast<double>(slot_bytes(plans_[shapes[i]])) / filled_per_second;
      const auto wanted = static_cast<std::size_t>(batch_seconds / each) + 1;
      const std::size_t least = std::clamp<std::size_t>(options_.sampling.min_samples, 1, most_slots);
      const std::size_t full = std::clamp(wanted, least, most_slots);
      const std::size_t count = hopeless ? 3 : over > 1 ? std::min<std::size_t>(full, 8) : full;
      if (auto fault = batch(subject, shapes[i], count, taken[i])) return fault;
      state.elapsed += monotonic_seconds() - begin;
      // Reasons to slow down stay set for a while after the load that caused them, so that looking once is
      // enough; what is surely slower is not looked at, since asking takes as long as some kernels.
      if (nvml_ && !hopeless)
        states[i] = std::async(std::launch::async, [nvml = nvml_.get()] { return nvml->state(); });
    }
    if (auto fault = verify_pending()) return fault;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (done[i]) continue;
      const ShapeState& state = subject.shapes[shapes[i]];
      ShapeMeasurement& shape = measurement.shapes[i];
      const auto after = states[i].valid() ? states[i].get() : std::nullopt;
      if (after) {
        features.set("clock_mhz", after->clock_mhz);
        features.set("temperature", after->temperature);
        features.set("watts", after->watts);
      }
      const bool throttled = after && after->throttled;
      if (throttled && options_.discard_throttled && state.elapsed < 4 * options_.sampling.budget_seconds) {
        ++discarded;
      } else {
        shape.samples.insert(shape.samples.end(), taken[i].begin(), taken[i].end());
        summarize(shape);
      }
      if (shape.samples.empty()) continue;
      if (const auto end = sampling_end(shape.samples, state.elapsed, options_.sampling)) {
        shape.ended = *end;
        done[i] = true;
      }
      if (context.stop.stop_requested()) {
        shape.ended = SamplingEnd::budget;
        done[i] = true;
      }
    }
    combine_shapes(measurement, combine);
    const bool enough = std::all_of(measurement.shapes.begin(), measurement.shapes.end(),
                                    [](const ShapeMeasurement& shape) { return shape.samples.size() >= 3; });
    if (context.incumbent && enough &&
        measurement.interval.low > *context.incumbent * (1 + options_.sampling.slower_margin)) {
      for (std::size_t i = 0; i < shapes.size(); ++i)
        if (!done[i]) measurement.shapes[i].ended = SamplingEnd::slower;
      break;
    }
  }
  if (auto fault = verify_pending()) return fault;  // where no shape is timed
  if (discarded > 0) features.set("throttled_batches", static_cast<double>(discarded));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const double floor = floor_seconds(shapes[i]), seconds = measurement.shapes[i].median;
    if (seconds >= floor) continue;
    char text[160];
    std::snprintf(text, sizeof text, "%.4g us is faster than the device can be (%.4g us, shape %s)",
                  1e6 * seconds, 1e6 * floor, measurement.shapes[i].shape.c_str());
    return Fault{Verdict::cheated, text};
  }
  return std::nullopt;
}

void DeviceWorker::set_load(Features& features, double measured_seconds) {
  if (!nvml_) return;
  if (const double now = monotonic_seconds(); now - others_seen_ > 1) {
    others_ = nvml_->others(process_tree(getpid()), std::max(1.0, measured_seconds));
    others_seen_ = now;
  }
  if (!others_) return;
  features.set("load.processes", static_cast<double>(others_->processes));
  if (others_->share) features.set("load.device", *others_->share);
}

std::optional<Fault> DeviceWorker::pair_batch(Subject& subject, Subject& other, std::size_t shape,
                                              std::size_t count, PairedTimes& times) {
  count = std::max<std::size_t>(1, std::min(count, slots(shape) / 2));
  std::size_t first = 0;
  if (auto fault = make_room(shape, 2 * count, first)) return fault;
  const auto set = referee_.for_timing(shape);
  const std::vector<bool> known = some_of(count);
  if (auto fault = hold_made(shape, set->seed, set->flavour)) return fault;
  std::vector<Action> actions;
  const std::uint64_t poison = rng_();
  stage(actions, shape, set->seed);
  for (std::size_t i = 0; i < count; ++i) {  // A B B A: a drift of the machine meets both alike
    const bool ours_first = i % 2 == 0;
    fill_turned(actions, shape, first + 2 * i, known[i] ? std::optional(set->seed) : std::nullopt,
                poison + i);
    fill_turned(actions, shape, first + 2 * i + 1, std::nullopt, poison + i);
    for (const bool ours : {ours_first, !ours_first}) {
      const std::size_t slot = first + (ours ? 2 * i : 2 * i + 1);
      prepare(actions, shape, slot);
      call(actions, ours ? subject : other, shape, slot, true);
      if (ours) inspect(actions, subject, shape, slot, poison + i);
    }
  }
  Act::Reply done;
  if (auto fault = send(std::move(actions), options_.limits.call * static_cast<double>(count + 1), done))
    return fault;
  std::size_t at = 0;
  std::unordered_set<std::uint64_t> seen;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t result = 0;
    if (auto fault = judged(done.values, at, shape, result, inputs(shape))) {
      fault->reason = "in a timed call, " + fault->reason;
      return fault;
    }
    if (known[i] && seen.insert(result).second) pending_.push_back({set, first + 2 * i, result, true, false});
  }
  if (auto fault = verify_pending()) return fault;
  for (std::size_t i = 0; i < count && 2 * i + 1 < done.seconds.size(); ++i) {
    const double earlier = done.seconds[2 * i], later = done.seconds[2 * i + 1];
    times.candidate.push_back(i % 2 == 0 ? earlier : later);
    times.reference.push_back(i % 2 == 0 ? later : earlier);
  }
  return std::nullopt;
}

std::optional<Fault> DeviceWorker::pairs(Subject& subject, Subject& other, const PairOptions& limits,
                                         Speedup& speedup, Measurement* measurement) {
  std::vector<PairedTimes> all;
  for (std::size_t s = 0; s < plans_.size(); ++s) {
    if (!timed(s) || !other.shapes[s].valid) continue;
    PairedTimes times;
    times.weight = problem_.shapes[s].weight;
    const double begin = monotonic_seconds();
    while (times.candidate.size() < limits.max_pairs) {
      if (limits.stop.stop_requested()) {
        if (times.candidate.size() < limits.min_pairs) return std::nullopt;  // too few for a ratio
        break;
      }
      if (auto fault = pair_batch(subject, other, s, limits.min_pairs, times)) return fault;
      if (times.candidate.size() < limits.min_pairs) continue;
      const Speedup now = paired_speedup(times);
      if (now.interval.high - now.interval.low <= 2 * limits.precision * now.ratio) break;
      if (monotonic_seconds() - begin > limits.budget_seconds) break;
    }
    if (measurement != nullptr && all.size() < measurement->shapes.size())
      measurement->shapes[all.size()].speedup = paired_speedup(times);
    all.push_back(std::move(times));
  }
  if (!all.empty())
    speedup = combined_speedup(all, problem_.aggregate == Aggregate::geometric_mean ? Combine::geometric_mean
                                                                                    : Combine::weighted_sum);
  return std::nullopt;
}

}  // namespace kernelsearch::detail::gpu
