// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <future>
#include <numeric>

#include "evaluator/gpu/device_judge.hpp"
#include "evaluator/gpu/device_judge_parts.hpp"
#include "evaluator/gpu/launch_judgement.hpp"
#include "judge/energy.hpp"
#include "judge/pairs.hpp"
#include "judge/sampler.hpp"
#include "kernelsearch/problem/evaluate.hpp"

namespace kernelsearch::detail::gpu {

double DeviceJudge::floor_seconds(std::size_t shape) const {
  const Shape& sizes = problem_.shapes[shape];
  LeastWork work;
  for (const PlannedArgument& argument : plans_[shape].arguments)
    if (argument.is_output()) work.outputs += static_cast<double>(bytes_of(argument));
  if (problem_.operations) work.operations = to_number(kernelsearch::evaluate(*problem_.operations, sizes));
  // Without `bytes` what is written is sure to move. Which inputs must be read only the problem can say.
  work.bytes = problem_.bytes ? to_number(kernelsearch::evaluate(*problem_.bytes, sizes)) : work.outputs;
  return least_seconds(device_, work, options_.cache);
}

std::optional<Fault> DeviceJudge::draw(std::size_t shape, std::size_t count, bool shared, Batch& batch) {
  batch = {.shape = shape, .shared = shared, .poison = rng_()};
  if (auto fault = make_room(shape, count, batch.first)) return fault;
  batch.first_sights = count;
  std::vector<std::uint64_t> made;
  if (made_.any()) {
    if (auto fault = hold_new(shape, count, made)) return fault;
    batch.first_sights = made.size();
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t seed = rng_();
    batch.sets.push_back(referee_.unsolved(shape, seed, made.empty() ? seed : made[i % made.size()]));
  }
  return std::nullopt;
}

std::optional<Fault> DeviceJudge::choose_verified(ShapeState& state, Depth depth,
                                                  std::vector<std::size_t> calls, Batch& batch) {
  if (depth == Depth::glance) return std::nullopt;
  const bool finalist = depth == Depth::finalist;
  const double cost = std::max(1e-6, referee_.cost(batch.shape));
  const double left = finalist ? options_.verification.finalist_seconds - state.verified_seconds
                               : options_.verification.search_seconds;
  std::size_t most = std::max<std::size_t>(1, calls.size() / (finalist ? 2 : 4));
  // Outputs of a launch function are handed over all at once, before the referee takes its time.
  const std::uint64_t each = std::max<std::uint64_t>(1, output_bytes(plans_[batch.shape]));
  if (launches_) most = std::clamp<std::size_t>(static_cast<std::size_t>(shared_.size() / each), 1, most);
  most = std::clamp<std::size_t>(static_cast<std::size_t>(memory_ / 16 / each), 1, most);
  auto count = static_cast<std::size_t>(std::clamp(left / cost, 0.0, static_cast<double>(most)));
  const bool dear = referee_.is_dear(batch.shape);
  // One of every batch, since a kernel that counts its calls is right in the first; of a slow reference one
  // of a finalist, and in a search one with results that are known already, while there are any.
  if (count == 0 && (dear ? finalist && !state.verified : true)) count = 1;
  state.verified_seconds += static_cast<double>(count) * cost;
  for (std::size_t i = calls.size(); i > 1; --i)
    std::swap(calls[i - 1], calls[static_cast<std::size_t>(rng_.below(i))]);
  if (InputSetPointer known = referee_.for_timing(batch.shape)) {
    if (auto fault = hold_made(batch.shape, known->seed, known->flavour)) return fault;
    batch.sets[calls.front()] = std::move(known);
    count = std::max<std::size_t>(count, 1);
  }
  batch.verified.assign(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(count));
  // What was solved for another process need not be solved again. Nobody can tell it from what is new.
  if (batch.shared)
    for (const std::size_t i : batch.verified) batch.sets[i] = referee_.shared(std::move(batch.sets[i]));
  state.verified = state.verified || count > 0;
  return std::nullopt;
}

void DeviceJudge::timed_call(std::vector<Action>& actions, const Subject& subject, const Batch& batch,
                             std::size_t index) {
  const std::size_t slot = batch.first + index;
  fill_arrays(actions, slot, *batch.sets[index], batch.poison + index);
  prepare(actions, batch.shape, slot);
  call(actions, subject, batch.shape, slot, true);
  inspect(actions, subject, batch.shape, slot, batch.poison + index);
}

std::optional<Fault> DeviceJudge::run_batch(Subject& subject, const Batch& batch,
                                            std::vector<double>& seconds,
                                            std::vector<std::uint64_t>& results) {
  const std::size_t count = batch.sets.size();
  std::vector<Action> actions;
  // Each call's inputs come just before it and its outputs are looked at just after it: no call can do the
  // work of a later one, or leave its own to it.
  for (std::size_t i = 0; i < count; ++i) timed_call(actions, subject, batch, i);
  Act::Reply done;
  // What surrounds a call (filling, flushing, hashing) takes a device next to nothing, and threads of a busy
  // host longer than most kernels.
  const double around = device_.on_host ? 1.0 : 0.0;
  const double limit = options_.limits.call +
                       (20 * subject.shapes[batch.shape].estimate + around) * static_cast<double>(count);
  if (auto fault = send(std::move(actions), limit, done)) {
    fault->reason += " (timed calls, shape " + problem_.shapes[batch.shape].name + ")";
    return fault;
  }
  seconds = std::move(done.seconds);
  settle_times(subject, seconds, done.outside);
  results.assign(count, 0);
  std::optional<Fault> first;
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (auto fault = judged(subject, done.values, at, batch.shape, batch.first + i, results[i]);
        fault && !first) {
      first = std::move(fault);
      first->reason = "in a timed call, " + first->reason;
    }
  return first;
}

void DeviceJudge::settle_times(Subject& subject, std::vector<double>& seconds,
                               const std::vector<double>& outside) const {
  // What launching and waiting take: of threads of the host, which others may use; of a device.
  constexpr double threads = 200e-6, queue = 50e-6;
  if (charge_outside(seconds, outside, device_.on_host ? threads : queue)) ++subject.charged;
}

void DeviceJudge::remember(const Batch& batch, const std::vector<std::uint64_t>& results,
                           const ShapeState& state) {
  for (const std::size_t i : batch.verified)
    pending_.push_back(
        {batch.sets[i], batch.first + i, results[i], true, state.results.contains(results[i])});
  held_[batch.shape] = batch.first + batch.sets.size();
}

std::optional<Fault> DeviceJudge::batch(Subject& subject, std::size_t shape, std::size_t count, Depth depth,
                                        std::vector<double>& samples) {
  if (launches_) return launched_batch(subject, shape, count, depth, samples);
  ShapeState& state = subject.shapes[shape];
  count = std::min(count, slots(shape));
  Batch batch;
  const bool shared = depth == Depth::search && shares(subject, shape);
  if (auto fault = draw(shape, count, shared, batch)) return fault;
  std::vector<std::size_t> calls(count);
  std::iota(calls.begin(), calls.end(), std::size_t{0});
  if (auto fault = choose_verified(state, depth, std::move(calls), batch)) return fault;
  std::vector<double> seconds;
  std::vector<std::uint64_t> results;
  if (auto fault = run_batch(subject, batch, seconds, results)) return fault;
  remember(batch, results, state);
  state.results.insert(results.begin(), results.end());
  seconds.resize(std::min(seconds.size(), batch.first_sights));  // of others the results may have been kept
  samples.insert(samples.end(), seconds.begin(), seconds.end());
  state.estimate = median(std::move(seconds));
  return std::nullopt;
}

/// Batches of about 20 ms, for the sampling loop.
struct DeviceJudge::SampleTimer : PlainSampleTimer {
  SampleTimer(DeviceJudge& of, Subject& timed, Features& told, const EvaluationContext& evaluation)
      : worker(of), subject(timed), features(told), context(evaluation), states(of.plans_.size()) {}

  std::optional<Fault> sample(std::size_t shape, const ShapeMeasurement& so_far,
                              std::vector<double>& samples) {
    constexpr double batch_seconds = 0.02, flush_seconds = 60e-6, filled_per_second = 5e11;
    const SamplingOptions& sampling = worker.options_.sampling;
    ShapeState& state = subject.shapes[shape];
    const double begin = monotonic_seconds();
    // What looks surely slower gets a few samples to be sure of it, what looks slower some, not a full batch.
    const double over = context.incumbent && so_far.samples.empty() && worker.only_timed_shape()
                            ? state.estimate / (*context.incumbent * (1 + sampling.slower_margin))
                            : 0.0;
    const bool hopeless = over > 1.25;
    const double each = state.estimate + flush_seconds +
                        static_cast<double>(slot_bytes(worker.plans_[shape])) / filled_per_second;
    const auto wanted = static_cast<std::size_t>(batch_seconds / each) + 1;
    const std::size_t least = std::clamp<std::size_t>(sampling.min_samples, 1, most_slots);
    const std::size_t full = std::clamp(wanted, least, most_slots);
    const std::size_t count = hopeless ? 3 : over > 1 ? std::min<std::size_t>(full, 8) : full;
    const Depth depth = hopeless ? Depth::glance : subject.finalist ? Depth::finalist : Depth::search;
    if (auto fault = worker.batch(subject, shape, count, depth, samples)) return fault;
    state.elapsed += monotonic_seconds() - begin;
    // Reasons to slow down stay set for a while after the load that caused them, so that looking once is
    // enough; what is surely slower is not looked at, since asking takes as long as some kernels.
    if (worker.nvml_ && !hopeless)
      states[shape] = std::async(std::launch::async, [nvml = worker.nvml_.get()] { return nvml->state(); });
    return std::nullopt;
  }

  template <class>
  std::optional<Fault> after_rounds() {
    return worker.verify_pending();
  }

  /// A batch that was timed while the device was throttled does not count, for a while.
  [[nodiscard]] bool counts(std::size_t shape) {
    const auto after = states[shape].valid() ? states[shape].get() : std::nullopt;
    if (after) {
      features.set("clock_mhz", after->clock_mhz);
      features.set("temperature", after->temperature);
      features.set("watts", after->watts);
    }
    const bool discard = after && after->throttled && worker.options_.discard_throttled &&
                         elapsed(shape) < 4 * worker.options_.sampling.budget_seconds;
    if (discard) ++discarded;
    return !discard;
  }

  [[nodiscard]] double elapsed(std::size_t shape) const { return subject.shapes[shape].elapsed; }

  DeviceJudge& worker;
  Subject& subject;
  Features& features;
  const EvaluationContext& context;
  std::vector<std::future<std::optional<DeviceState>>> states;
  std::size_t discarded = 0;
};

std::optional<Fault> DeviceJudge::measure(Subject& subject, Measurement& measurement, Features& features,
                                          const EvaluationContext& context) {
  verified_ = 0;
  SampleTimer timer(*this, subject, features, context);
  Sampler<Fault, SampleTimer> sampler(problem_, options_.sampling, SamplingOrder::interleaved, timer);
  if (auto fault = sampler.run(measurement, context.incumbent, context.stop)) return fault;
  if (auto fault = verify_pending()) return fault;  // where no shape is timed
  if (auto fault = meter(subject, measurement, features, context)) return fault;
  if (!measurement.shapes.empty()) features.set("verified_calls", static_cast<double>(verified_));
  if (subject.inside > 0) features.set("outside_over_events", subject.outside / subject.inside);
  if (subject.charged > 0) features.set("charged_batches", static_cast<double>(subject.charged));
  if (timer.discarded > 0) features.set("throttled_batches", static_cast<double>(timer.discarded));
  for (std::size_t s = 0, i = 0; s < plans_.size(); ++s) {
    if (!timed(s)) continue;
    const ShapeMeasurement& shape = measurement.shapes[i++];
    const double floor = floor_seconds(s);
    if (shape.median >= floor) continue;
    char text[160];
    std::snprintf(text, sizeof text, "%.4g us is faster than the device can be (%.4g us, shape %s)",
                  1e6 * shape.median, 1e6 * floor, shape.shape.c_str());
    return Fault{Verdict::cheated, text};
  }
  return std::nullopt;
}

std::optional<Fault> DeviceJudge::meter(Subject& subject, const Measurement& measurement, Features& features,
                                        const EvaluationContext& context) {
  if (!nvml_ || !wants_energy(problem_.objectives)) return std::nullopt;
  const std::optional<double> before = nvml_->joules();
  if (!before) return std::nullopt;
  // Apart from the samples, with the fewest calls checked: the reference's own energy would count.
  const double begin = monotonic_seconds();
  while (monotonic_seconds() - begin < energy_seconds && !context.stop.stop_requested())
    for (std::size_t shape = 0; shape < plans_.size(); ++shape) {
      if (!timed(shape)) continue;
      std::vector<double> ignored;
      const double each = std::max(subject.shapes[shape].estimate, 1e-6);
      const auto count = std::clamp<std::size_t>(static_cast<std::size_t>(0.02 / each) + 1, 1, most_slots);
      if (auto fault = batch(subject, shape, count, Depth::glance, ignored)) return fault;
    }
  const double seconds = monotonic_seconds() - begin;
  if (const auto after = nvml_->joules())
    set_energy(*after - *before, seconds, measurement.seconds, features);
  return verify_pending();
}

void DeviceJudge::set_load(Features& features, double measured_seconds) {
  if (!nvml_) return;
  if (const double now = monotonic_seconds(); now - others_seen_ > 1) {
    others_ = nvml_->others(process_tree(getpid()), std::max(1.0, measured_seconds));
    others_seen_ = now;
  }
  if (!others_) return;
  features.set("load.processes", static_cast<double>(others_->processes));
  if (others_->share) features.set("load.device", *others_->share);
}

std::optional<Fault> DeviceJudge::pair_batch(Subject& subject, Subject& other, std::size_t shape,
                                             std::size_t count, bool both, PairedTimes& times) {
  count = std::max<std::size_t>(1, std::min(count, slots(shape) / 2));
  Batch batch;
  if (auto fault = draw(shape, 2 * count, shares(subject, shape), batch)) return fault;
  // The even calls are those of the candidate. The other side has been judged before, unless both are
  // finalists.
  std::vector<std::size_t> calls;
  for (std::size_t i = 0; i < 2 * count; ++i)
    if (both || i % 2 == 0) calls.push_back(i);
  const Depth depth = subject.finalist ? Depth::finalist : Depth::search;
  if (auto fault = choose_verified(subject.shapes[shape], depth, std::move(calls), batch)) return fault;
  std::vector<Action> actions;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < count; ++i)  // A B B A: a drift of the machine meets both alike
    for (const std::size_t side : {i % 2, 1 - i % 2}) order.push_back(2 * i + side);
  for (const std::size_t i : order) timed_call(actions, i % 2 == 0 ? subject : other, batch, i);
  Act::Reply done;
  if (auto fault = send(std::move(actions), options_.limits.call * static_cast<double>(count + 1), done))
    return fault;
  std::size_t at = 0;
  std::vector<std::uint64_t> results(2 * count);
  for (const std::size_t i : order)
    if (auto fault =
            judged(i % 2 == 0 ? subject : other, done.values, at, shape, batch.first + i, results[i]);
        fault && (both || i % 2 == 0)) {
      fault->reason = "in a timed call, " + fault->reason;
      return fault;
    }
  remember(batch, results, subject.shapes[shape]);
  if (auto fault = verify_pending()) return fault;
  const auto of_sides = [count](const std::vector<double>& seconds, std::vector<double>& ours,
                                std::vector<double>& theirs) {
    for (std::size_t i = 0; i < count && 2 * i + 1 < seconds.size(); ++i) {
      ours.push_back(seconds[2 * i + i % 2]);
      theirs.push_back(seconds[2 * i + 1 - i % 2]);
    }
  };
  std::vector<double> ours, theirs, ours_outside, theirs_outside;
  of_sides(done.seconds, ours, theirs);
  of_sides(done.outside, ours_outside, theirs_outside);
  settle_times(subject, ours, ours_outside);
  settle_times(other, theirs, theirs_outside);
  times.candidate.insert(times.candidate.end(), ours.begin(), ours.end());
  times.reference.insert(times.reference.end(), theirs.begin(), theirs.end());
  return std::nullopt;
}

/// Batches of pairs, for the pairing loop.
struct DeviceJudge::PairTimer {
  [[nodiscard]] bool has(std::size_t shape) const { return other.shapes[shape].valid; }

  static std::optional<Fault> warm_up(std::size_t) { return std::nullopt; }  // both were checked just now

  std::optional<Fault> pair(std::size_t shape, std::size_t /*before*/, PairedTimes& pairs) {
    return worker.pair_batch(subject, other, shape, count, both, pairs);
  }

  DeviceJudge& worker;
  Subject& subject;
  Subject& other;
  std::size_t count;  ///< pairs of a batch
  bool both;
};

std::optional<Fault> DeviceJudge::pairs(Subject& subject, Subject& other, const PairOptions& limits,
                                        bool both, Speedup& speedup, Measurement* measurement) {
  for (ShapeState& state : subject.shapes) state.verified_seconds = 0;
  PairOptions all = limits;
  all.rounds = 1;  // both sides live in one process
  Pairs taken(problem_, all);
  taken.assume_between_processes(both ? between_candidates : between_modules);
  if (auto fault = taken.take_round<Fault>(PairTimer{*this, subject, other, all.min_pairs, both}))
    return fault;
  speedup = taken.speedup(measurement);
  return std::nullopt;
}

}  // namespace kernelsearch::detail::gpu
