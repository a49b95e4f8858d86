// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <time.h>

#include <algorithm>
#include <cmath>

#include "evaluator/host/batches.hpp"
#include "evaluator/host/host_judge.hpp"
#include "evaluator/host/time_judgement.hpp"
#include "judge/pairs.hpp"
#include "process/pinned_thread.hpp"

// The times of a candidate: rounds of batches, calls alone, and what tells whether they can be believed.
namespace kernelsearch::detail {
namespace {

constexpr double pair_seconds = 0.005;
// Slots whose contents are copied before a batch where the kernel updates them: one of them is called.
constexpr std::size_t copied_before = 8;
// To warm up before short calls are sampled, and the rounds that they are sampled for at least: what disturbs
// the machine for a millisecond must not have most of them.
constexpr std::size_t warming_batches = 6, short_rounds = 2;
// Batches that are shown again to two fresh processes; the first of them do not count, since what a kernel
// does only in its first calls is slow in both.
constexpr double replayed_seconds = 0.1;
constexpr std::size_t least_replayed = 32, most_replayed = 512, first_replayed = 8;

}  // namespace

std::shared_ptr<InputSet> HostJudge::timing_set(const ShapePlan& plan) {
  return subject_.is_reference ? inputs_.for_reference(plan) : inputs_.for_timing(plan, shown_);
}

std::optional<Fault> HostJudge::round(std::size_t shape, double target_seconds, std::vector<double>& samples,
                                      std::size_t most_short) {
  select(shape);
  ShapeState& state = shapes_[shape];
  Slots& slots = runner_->slots();
  const std::size_t calls = state.calls;
  const auto set = timing_set(state.plan);
  const FreshInputs& fresh = inputs_.fresh(state.plan);
  const double limit = limit_seconds_ + 20 * state.estimate * static_cast<double>(calls);
  const std::size_t most =
      filled_batches(fresh, state.filled, state.estimate >= short_call ? most_batches : most_short);
  const std::size_t batches =
      whole(target_seconds / (std::max(state.estimate, 1e-9) * static_cast<double>(calls)), most);
  const std::size_t known_batch = set->solved ? rng_.below(batches) : batches;
  const bool updates =
      std::any_of(state.plan.arguments.begin(), state.plan.arguments.end(),
                  [](const PlannedArgument& one) { return one.is_array && one.role == Role::inout; });
  std::vector<Kept> kept;
  std::vector<double> round;
  const double begin = monotonic_seconds();
  // All the while, also while the worker is stopped: moving to another core and back takes as long as many a
  // batch does.
  std::optional<PinnedThread> here(std::in_place, runner_->core());
  const double cpu_before = clock_seconds(CLOCK_THREAD_CPUTIME_ID), waited_before = waited_here(),
               worker_before = runner_->worker().cpu();
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const bool known = batch == known_batch;
    const std::size_t known_slot = known ? rng_.below(state.filled) : state.filled;
    double seconds = 0;
    fill_slots(slots, state.filled, known_slot, set->contents, fresh, options_.cache);
    // What a call updates is copied before, of some slots of which one is probably called.
    std::vector<std::pair<std::uint32_t, Contents>> before;
    if (updates)
      for (std::size_t i = 0; i < (state.filled == calls ? 1 : copied_before); ++i) {
        const auto slot = static_cast<std::uint32_t>(rng_.below(state.filled));
        before.emplace_back(slot, slots.inputs(slot, spare()));
        if (options_.cache == CacheMode::cold) slots.flush(slot);
      }
    if (auto fault = run_drawn(state, limit, seconds)) return fault;
    if (auto fault = inspect()) return fault;
    const std::span called = std::span(drawn_).first(calls);
    const auto was_called = [&](std::uint32_t slot) {
      return std::find(called.begin(), called.end(), slot) != called.end();
    };
    if (known && was_called(static_cast<std::uint32_t>(known_slot))) {
      kept.push_back({seconds, *set, slots.outputs(known_slot, spare())});
    } else if (!updates) {
      const std::uint32_t slot = called[rng_.below(calls)];
      kept.push_back({seconds, {}, slots.outputs(slot, spare())});
      kept.back().set.contents = slots.inputs(slot, spare());
    } else if (const auto one = std::find_if(before.begin(), before.end(),
                                             [&](const auto& copy) { return was_called(copy.first); });
               one != before.end()) {
      kept.push_back({seconds, {}, slots.outputs(one->first, spare())});
      kept.back().set.contents = std::move(one->second);
    }
    round.push_back(seconds);
    timed_ += calls;
    state.timed += calls;
  }
  cpu_here_ += clock_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
  // That our worker had the core is not a load.
  const double ours = runner_->worker().cpu() - worker_before;
  waited_here_ += std::max(waited_here() - waited_before - ours, 0.0);
  here.reset();
  if (auto fault = verify_some(shape, std::move(kept), monotonic_seconds() - begin)) return fault;
  const double middle = median(round);
  ++(is_uneven(round) ? state.uneven : state.even);
  state.estimate = middle;
  overhead_share_ =
      std::max(overhead_share_, overhead_ / (overhead_ + state.estimate * static_cast<double>(calls)));
  samples.insert(samples.end(), round.begin(), round.end());
  return std::nullopt;
}

std::optional<Fault> HostJudge::evenness(std::size_t shape) {
  const ShapeState& state = shapes_[shape];
  if (problem_.threads > 1) return std::nullopt;  // the wall's clock is as even as the machine
  const auto suspicious = [&state] { return state.uneven > 0 && 3 * state.uneven > state.even; };
  for (int again = 0; again < 8 && suspicious(); ++again) {
    std::vector<double> samples;
    if (auto fault = round(shape, round_seconds, samples)) return fault;
  }
  if (!suspicious()) return std::nullopt;
  // Who leaves out most of his batches is found where they are compared; what is right, and slow again when
  // it is shown the same, follows its contents. What is seen once only may be the machine's.
  if (auto fault = assure(shape, shapes_[shape].verified + least_verified, {})) return fault;
  constexpr int times = 3;
  int own = 0;
  for (int time = 0; time < times && own == time; ++time) {
    Pattern pattern = Pattern::even;
    if (auto fault = shown_again(shape, pattern)) return fault;
    own += pattern == Pattern::own ? 1 : 0;
  }
  if (own < times) return std::nullopt;
  const std::string what =
      "a few of its timed calls take the time of all (shape " + problem_.shapes[shape].name + ")";
  if (const double disturbance = load().disturbance(); disturbance > disturbing)
    return not_distinguishable(what, disturbance);
  return Fault{Verdict::cheated, what};
}

std::optional<Fault> HostJudge::shown_again(std::size_t shape, Pattern& pattern) {
  const ShapeState& state = shapes_[shape];
  const double batch = std::max(state.estimate, 1e-9) * static_cast<double>(state.calls);
  const auto seeds =
      secret_seeds(first_replayed + std::max(least_replayed, whole(replayed_seconds / batch, most_replayed)));
  const auto set = inputs_.for_timing(state.plan, shown_);
  std::vector<double> once, again;
  if (auto fault = replay(shape, set->contents, seeds, once)) return fault;
  if (auto fault = replay(shape, set->contents, seeds, again)) return fault;
  pattern = pattern_of(std::span(once).subspan(first_replayed), std::span(again).subspan(first_replayed));
  return std::nullopt;
}

std::optional<Fault> HostJudge::replay(std::size_t shape, const Contents& contents,
                                       std::span<const std::uint64_t> seeds, std::vector<double>& seconds) {
  const ShapeState& state = shapes_[shape];
  const FreshInputs& fresh = inputs_.fresh(state.plan);
  Runner runner(settings_, subject_.library, subject_.storage, false, runner_->arena_bytes());
  if (runner.fault()) return runner.fault();
  runner.select(state.plan, options_.buffer_memory, 2, state.slots);
  const PinnedThread here(runner.core());
  const double limit = limit_seconds_ + 20 * state.estimate * static_cast<double>(state.calls);
  for (const std::uint64_t seed : seeds) {
    double charged = 0;
    fill_batch(runner.slots(), state.calls, contents, fresh, options_.cache, seed);
    if (auto fault = runner.run_ordered(state.calls, limit, charged)) return fault;
    seconds.push_back(per_call(charged, overhead_, state.calls));
  }
  return std::nullopt;
}

std::optional<Fault> HostJudge::lone_calls(std::size_t shape, std::size_t filled, std::size_t calls,
                                           bool lockstep, double& seconds) {
  select(shape);
  ShapeState& state = shapes_[shape];
  Slots& slots = runner_->slots();
  const std::size_t generated = inputs_.fresh(state.plan).calls_filled_in(generating_round);
  filled = std::clamp<std::size_t>(generated, 2, std::min(slots.count(), filled));
  const auto set = timing_set(state.plan);
  const FreshInputs& fresh = inputs_.fresh(state.plan);
  const auto order = shuffled(filled, secret_seed());
  const std::span<const std::uint32_t> called =
      std::span(order).first(std::clamp<std::size_t>(calls, 1, filled - 1));
  const auto& arguments = state.plan.arguments;
  std::vector<std::vector<std::uint64_t>> before(arguments.size());  // of arrays that are updated
  const auto hash = [&](std::size_t slot, std::size_t a) {
    return hash_bytes(slots.data(slot, a), slots.bytes(a));
  };
  std::optional<Fault> fault;
  const double cpu_before = runner_->worker().cpu(), waited_before = runner_->worker().waited();
  {
    const PinnedThread here(runner_->core());
    fill_slots(slots, filled, subject_.is_reference ? filled : called.front(), set->contents, fresh,
               options_.cache);
    for (std::size_t a = 0; a < arguments.size(); ++a)
      if (arguments[a].is_array && arguments[a].role == Role::inout)
        for (std::size_t slot = 0; slot < filled; ++slot) before[a].push_back(hash(slot, a));
    if (lockstep) {
      fault = runner_->lockstep(called, limit_seconds_, seconds);
    } else {
      std::vector<double> each(called.size()), empty(called.size());
      for (std::size_t i = 0; i < called.size() && !fault; ++i) {
        fault = runner_->run(1, called[i], limit_seconds_, each[i]);
        if (!fault) empty[i] = clock_.of_one_batch();
      }
      if (!fault) seconds = lone_seconds(each, empty);
    }
  }
  if (fault) return explained(std::move(*fault));
  // Handing out single calls is mostly waiting for each other: nothing that tells of others.
  cpu_then_ += runner_->worker().cpu() - cpu_before;
  waited_then_ += runner_->worker().waited() - waited_before;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    if (!arguments[a].is_output()) continue;
    for (std::size_t i = called.size(); i < filled; ++i) {
      const std::size_t slot = order[i];
      if (before[a].empty() ? !slots.is_all_poison(slot, a) : hash(slot, a) != before[a][slot])
        return wrote_others();
    }
  }
  if (auto outside = guards(0, filled)) return outside;
  Kept call{seconds, *set, slots.outputs(called.front())};
  bool decided = false;
  return verify(shape, call, Price::fair, decided);
}

std::optional<Fault> HostJudge::one_by_one(std::size_t shape, double claimed) {
  ShapeState& state = shapes_[shape];
  select(shape);
  double each = 0;
  // Every call was a batch of its own, or there is no processor time to tell by.
  if (state.calls == 1 || problem_.threads > 1) {
    state.lone = state.together = claimed;
    // The reference is trusted, and its calls may be the longest of all.
    if (subject_.is_reference) return std::nullopt;
    return lone_calls(shape, 8, 1, false, each);
  }
  const auto filled = std::max<std::size_t>(warm_bytes / 2 / runner_->slots().slot_bytes(), 32);
  double least = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    if (auto fault = lone_calls(shape, filled, filled / 4, false, each)) return fault;
    least = attempt == 0 ? each : std::min(least, each);
    if (least <= alone_margin * claimed + alone_allowance) break;
    std::vector<double> again;  // the machine may have changed pace: sample again next to the check
    if (auto fault = round(shape, round_seconds, again)) return fault;
    claimed = std::max(claimed, median(again));
  }
  one_by_one_ = std::max(one_by_one_, least / claimed);
  state.lone = least;
  state.together = claimed;
  state.alone = least > alone_margin * claimed + alone_allowance;
  if (claimed >= lockstep_call || !runner_->has_lockstep()) return std::nullopt;
  // Only what is written when counts here: how long it takes hangs on the caches.
  return lone_calls(shape, filled, filled / 4, true, each);
}

std::optional<Fault> HostJudge::settle(std::size_t shape) {
  select(shape);
  ShapeState& state = shapes_[shape];
  state.alone = false;
  plan_batches(state, state.estimate);
  if (state.calls == 1 && state.estimate >= long_call) return one_by_one(shape, state.estimate);
  std::vector<double> samples;
  if (auto fault = round(shape, round_seconds / 2, samples)) return fault;
  plan_batches(state, state.estimate);
  samples.clear();
  if (auto fault = round(shape, round_seconds / 2, samples)) return fault;
  return one_by_one(shape, median(samples));
}

bool HostJudge::gains_only_together(std::size_t shape, const HostJudge& other) const {
  const ShapeState &ours = shapes_[shape], &theirs = other.shapes_[shape];
  const bool faster = ours.together < theirs.together;
  const ShapeState &fast = faster ? ours : theirs, &slow = faster ? theirs : ours;
  const double gain = slow.together - fast.together;
  return gain > least_gain * slow.together + gain_allowance && slow.lone - fast.lone < gain / 2;
}

MachineLoad HostJudge::load() const {
  if (!meter_) return {};
  const double cpu = runner_->worker().cpu(), waited = runner_->worker().waited();
  const bool known = cpu_then_ >= 0 && waited_then_ >= 0 && cpu >= cpu_then_ && waited >= waited_then_;
  // Nor is it that the worker waited while we had the core.
  const double for_others = std::max(waited - waited_then_ - cpu_here_, 0.0);
  return meter_->load(known ? cpu - cpu_then_ + cpu_here_ : -1, known ? for_others + waited_here_ : -1);
}

std::optional<Fault> HostJudge::time_once(std::size_t shape, double about, double& seconds) {
  select(shape);
  plan_batches(shapes_[shape], about);
  std::vector<double> samples;
  if (auto fault = round(shape, pair_seconds, samples)) return fault;
  seconds = median(samples);
  return std::nullopt;
}

/// Rounds of about 10 ms, for the sampling loop.
struct HostJudge::SampleTimer : PlainSampleTimer {
  explicit SampleTimer(HostJudge& of) : worker(of) {}

  std::optional<Fault> sample(std::size_t shape, const ShapeMeasurement& so_far,
                              std::vector<double>& samples) {
    ShapeState& state = worker.shapes_[shape];
    const double begin = monotonic_seconds();
    worker.select(shape);
    if (so_far.samples.empty()) {
      state.elapsed = 0;
      worker.plan_batches(state, state.estimate);
      std::vector<double> dropped;
      // one batch to warm up; a call this long has nothing to warm up that its check did not
      if (state.estimate < 0.05)
        if (auto fault = worker.round(shape, round_seconds / 2, dropped, warming_batches)) return fault;
      worker.plan_batches(state, state.estimate);
      calls_per_sample = std::max(calls_per_sample, static_cast<double>(state.calls));
    }
    if (auto fault = worker.round(shape, round_seconds, samples, short_batches)) return fault;
    state.elapsed += monotonic_seconds() - begin;
    return std::nullopt;
  }

  [[nodiscard]] double elapsed(std::size_t shape) const { return worker.shapes_[shape].elapsed; }

  [[nodiscard]] std::optional<SamplingEnd> ended(std::size_t shape, const ShapeMeasurement&,
                                                 std::size_t rounds, std::optional<SamplingEnd> end) const {
    const bool few = worker.shapes_[shape].calls > 1 && worker.problem_.threads == 1 && rounds < short_rounds;
    return few ? std::nullopt : end;
  }

  HostJudge& worker;
  double calls_per_sample = 1;  ///< a sample is a batch
};

std::optional<Fault> HostJudge::measure(Measurement& measurement, Features& features,
                                        std::optional<double> incumbent, const std::stop_token& stop) {
  overhead_ = clock_.of_batch();
  meter_.emplace(cores_);
  cpu_here_ = waited_here_ = 0;
  cpu_then_ = runner_->worker().cpu();
  waited_then_ = runner_->worker().waited();
  SampleTimer timer(*this);
  Sampler<Fault, SampleTimer> sampler(problem_, options_.sampling, SamplingOrder::interleaved, timer);
  if (auto fault = sampler.run(measurement, incumbent, stop)) return fault;
  for (std::size_t s = 0, i = 0; s < shapes_.size(); ++s) {
    if (problem_.shapes[s].weight <= 0) continue;
    const std::size_t index = i++;
    if (auto fault = evenness(s)) return fault;
    if (auto fault = one_by_one(s, measurement.shapes[index].median)) return fault;
    // What it can only do where it sees the next calls is not the time of a call.
    if (shapes_[s].alone)
      if (auto fault = sampler.again(s, index, measurement)) return fault;
    if (const auto why = floor_.below(shapes_[s].plan, measurement.shapes[index].median))
      return Fault{Verdict::cheated, *why + " (shape " + measurement.shapes[index].shape + ")"};
  }
  // What cannot be told from the best may be a finalist.
  if (!incumbent || measurement.interval.low <= *incumbent) {
    for (std::size_t s = 0; s < shapes_.size(); ++s)
      if (problem_.shapes[s].weight > 0)
        if (auto fault = call_on(s, stop)) return fault;
    if (auto fault = assure(least_verified, stop)) {
      features.set("unverified", fault->verdict == Verdict::timed_out ? 1.0 : 0.0);
      return fault;
    }
  }
  for (const ShapeState& state : shapes_)
    if (problem_.shapes[state.plan.shape].weight > 0) inputs_.solve_ahead(state.plan);
  if (auto fault = runner_->worker().census()) return fault;
  features.set("calls_per_sample", timer.calls_per_sample);
  features.set("timed_calls", static_cast<double>(timed_));
  features.set("verified_calls", static_cast<double>(verified_));
  features.set("clock_overhead", overhead_share_);
  if (one_by_one_ > 0) features.set("one_by_one", one_by_one_);
  features.set(
      "timed_alone",
      std::any_of(shapes_.begin(), shapes_.end(), [](const ShapeState& state) { return state.alone; }) ? 1.0
                                                                                                       : 0.0);
  return std::nullopt;
}

}  // namespace kernelsearch::detail
