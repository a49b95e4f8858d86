// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/host_worker.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "evaluator/host/time_judgement.hpp"

namespace kernelsearch::detail {
namespace {

using host_protocol::Prepare;

constexpr std::size_t most_slots = 64;
constexpr double batch_seconds = 0.010;  // long enough that starting a batch costs below 1 %
constexpr double pair_seconds = 0.005;
constexpr double round_trip = 200e-6;  // of one command on a busy machine, at most
// A sample shorter than this many readings of the clock is made of several calls, so that reading costs below
// 1 %.
constexpr double clock_readings = 100;

Prepare prepare_of(CacheMode cache) {
  return cache == CacheMode::cold ? Prepare::cold : Prepare::warm;
}

std::string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g ms", 1e3 * seconds);
  return text;
}

std::size_t samples_for(double target_seconds, double sample_seconds, std::size_t most) {
  const double wanted =
      sample_seconds > 0 ? std::floor(target_seconds / sample_seconds) : static_cast<double>(most);
  return static_cast<std::size_t>(
      std::clamp(wanted, 1.0, static_cast<double>(std::max<std::size_t>(most, 1))));
}

}  // namespace

HostWorker::HostWorker(const Problem& problem, const HostOptions& options, const WorkerSettings& settings,
                       InputSets& inputs, const Candidate& candidate, const std::filesystem::path& library)
    : problem_(problem),
      options_(options),
      inputs_(inputs),
      cores_(settings.cores),
      limit_seconds_(options.limits.call_seconds) {
  sets_ =
      std::max<std::size_t>(options.check.seeds, 1) + 3;  // edge, ill-conditioned, and the first once more
  std::size_t bytes = 0;
  shapes_.resize(problem.shapes.size());
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    shapes_[s].plan = plan_shape(problem, candidate, s);
    bytes = std::max(
        bytes, Slots(shapes_[s].plan, Storage::native, options.buffer_memory, 2, most_slots).arena_bytes());
  }
  runner_ = std::make_unique<Runner>(settings, library, Storage::native, false, bytes);
}

void HostWorker::select(std::size_t shape) {
  if (selected_ == shape) return;
  runner_->select(shapes_[shape].plan, options_.buffer_memory, 2, most_slots);
  selected_ = shape;
}

std::vector<std::vector<std::byte>> HostWorker::outputs(std::size_t slot) {
  const Slots& slots = runner_->slots();
  std::vector<std::vector<std::byte>> copies(slots.plan().arguments.size());
  for (std::size_t a = 0; a < copies.size(); ++a)
    if (slots.plan().arguments[a].is_output())
      copies[a].assign(slots.data(slot, a), slots.data(slot, a) + slots.bytes(a));
  return copies;
}

std::uint64_t HostWorker::hash_outputs(std::size_t slot) {
  const Slots& slots = runner_->slots();
  std::uint64_t hash = 0;
  for (std::size_t a = 0; a < slots.plan().arguments.size(); ++a)
    if (slots.plan().arguments[a].is_output())
      hash = hash * 0x9e3779b97f4a7c15u + hash_bytes(slots.data(slot, a), slots.bytes(a));
  return hash;
}

std::optional<Fault> HostWorker::inspect(std::size_t first, std::size_t count) const {
  const Slots& slots = runner_->slots();
  const std::string& shape = problem_.shapes[slots.plan().shape].name;
  for (std::size_t slot = first; slot < first + count; ++slot) {
    if (!slots.guards_intact(slot))
      return Fault{Verdict::cheated, "it wrote outside of its arrays (shape " + shape + ")"};
    if (const auto changed = slots.changed_input(slot))
      return Fault{Verdict::cheated,
                   "it changed its input " + problem_.arguments[*changed].name + " (shape " + shape + ")"};
  }
  return std::nullopt;
}

std::optional<Fault> HostWorker::check(Features& features) {
  if (runner_->fault()) return runner_->fault();
  inputs_.next_candidate();
  std::vector<std::size_t> order(shapes_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto work = [&](std::size_t s) {
    std::size_t elements = 0;
    for (const auto& argument : shapes_[s].plan.arguments) elements += argument.count;
    return elements;
  };
  // Small ones first: what is wrong is mostly wrong everywhere.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return work(a) < work(b); });
  std::size_t differing = 0, outputs = 0;
  for (const std::size_t shape : order)
    if (auto fault = check_shape(shape, differing, outputs)) return fault;
  if (auto fault = runner_->worker().census()) return fault;
  features.set("nondeterministic",
               outputs == 0 ? 0.0 : static_cast<double>(differing) / static_cast<double>(outputs));
  return std::nullopt;
}

std::optional<Fault> HostWorker::check_shape(std::size_t shape, std::size_t& differing,
                                             std::size_t& elements) {
  select(shape);
  ShapeState& state = shapes_[shape];
  Slots& slots = runner_->slots();
  auto sets = inputs_.for_check(state.plan);
  sets.push_back(sets.front());  // once more, at another address: two runs must agree
  std::vector<std::vector<std::byte>> first;
  for (std::size_t begin = 0; begin < sets.size(); begin += slots.count()) {
    const std::size_t count = std::min(slots.count(), sets.size() - begin);
    for (std::size_t i = 0; i < count; ++i) slots.fill(i, sets[begin + i]->contents, rng_(), nullptr);
    // The first call alone: a kernel that hangs costs its limit once, and the others are limited by what it
    // took.
    Ran ran, rest;
    auto fault = runner_->run(1, 1, 0, 1, Prepare::nothing, limit_seconds_, ran);
    if (!fault && count > 1)
      fault = runner_->run(count - 1, 1, 1, count - 1, Prepare::nothing,
                           limit_seconds_ + 10 * ran.samples[0] * static_cast<double>(count), rest);
    if (fault) {
      fault->reason += " (shape " + problem_.shapes[shape].name + ")";
      return fault;
    }
    ran.samples.insert(ran.samples.end(), rest.samples.begin(), rest.samples.end());
    const double fastest = *std::min_element(ran.samples.begin(), ran.samples.end());
    state.estimate = begin == 0 ? fastest : std::min(state.estimate, fastest);
    std::vector<std::vector<std::vector<std::byte>>> got;
    for (std::size_t i = 0; i < count; ++i) got.push_back(outputs(i));
    if ((fault = inspect(0, count))) return fault;
    for (std::size_t i = 0; i < count; ++i) {
      inputs_.solve(state.plan, *sets[begin + i]);
      if ((fault = compare_outputs(problem_, state.plan, *sets[begin + i], got[i]))) return fault;
      // solving took a while: whoever still works in the background has written by now
      if (outputs(i) != got[i])
        return Fault{Verdict::cheated, "its outputs changed after the call had returned (shape " +
                                           problem_.shapes[shape].name + ")"};
    }
    for (std::size_t i = 0; i < count; ++i) state.results.insert(hash_outputs(i));
    if (begin == 0) first = got.front();
    if (begin + count == sets.size())
      for (std::size_t a = 0; a < first.size(); ++a) {
        const std::size_t size = state.plan.arguments[a].element_bytes();
        elements += first[a].size() / size;
        for (std::size_t i = 0; i < first[a].size(); i += size)
          differing += std::memcmp(&first[a][i], &got[count - 1][a][i], size) != 0 ? 1u : 0u;
      }
  }
  return std::nullopt;
}

void HostWorker::plan_samples(ShapeState& state) const {
  const double shortest = clock_readings * runner_->worker().clock_seconds();
  const double calls = std::ceil(shortest / std::max(state.estimate, 1e-9));
  state.calls =
      static_cast<std::size_t>(std::clamp(calls, 1.0, static_cast<double>(runner_->slots().count())));
}

std::optional<Fault> HostWorker::verify(std::size_t slot, std::size_t count, InputSet& set) {
  ShapeState& state = shapes_[*selected_];
  const Slots& slots = runner_->slots();
  const auto got = outputs(slot);
  if (auto fault = inspect(0, count)) return fault;
  inputs_.solve(state.plan, set);
  auto fault = compare_outputs(problem_, state.plan, set, got);
  if (!fault && outputs(slot) != got)
    return Fault{Verdict::cheated, "the outputs of a timed call changed after it had returned"};
  for (std::size_t a = 0; a < state.plan.arguments.size() && !fault; ++a) {
    if (state.plan.arguments[a].role != Role::out || !state.plan.arguments[a].is_array) continue;
    const auto& unwritten = set.expected[a].unwritten;
    const PlannedArgument& argument = state.plan.arguments[a];
    auto allowed = static_cast<std::size_t>(std::count(unwritten.begin(), unwritten.end(), true));
    if (size_in_bytes(argument.type) == 4) allowed += poison_by_chance(argument.type, argument.count);
    for (std::size_t i = 0; i < count && !fault; ++i)
      if (slots.poison_left(i, a) > allowed)
        fault = Fault{Verdict::wrong_result,
                      "a timed call left elements of " + problem_.arguments[a].name + " unwritten"};
  }
  if (!fault) {
    // the contents of a slot tell its result: kept to recognise results that are given again for other inputs
    for (std::size_t i = 0; i < count; ++i) state.results.insert(hash_outputs(i));
    return std::nullopt;
  }
  if (state.results.contains(hash_outputs(slot)))
    return Fault{Verdict::cheated, "a timed call gave the result of an earlier call: " + fault->reason};
  fault->reason = "in a timed call, " + fault->reason;
  return fault;
}

std::optional<Fault> HostWorker::batch(std::size_t shape, double target_seconds,
                                       std::vector<double>& samples) {
  select(shape);
  ShapeState& state = shapes_[shape];
  Slots& slots = runner_->slots();
  const std::size_t most = std::min(slots.count() / state.calls, host_protocol::max_samples);
  const std::size_t count =
      samples_for(target_seconds, state.estimate * static_cast<double>(state.calls), most);
  const std::size_t used = count * state.calls;
  const auto set = inputs_.for_timing(state.plan);
  const std::size_t secret = static_cast<std::size_t>(rng_.below(used));
  for (std::size_t slot = 0; slot < used; ++slot)
    slots.fill(slot, set->contents, rng_(), slot == secret ? nullptr : &rng_);
  Ran ran;
  const double cpu_before = runner_->worker().cpu(), waited_before = runner_->worker().waited();
  const double limit = limit_seconds_ + 20 * state.estimate * static_cast<double>(used);
  if (auto fault = runner_->run(count, state.calls, 0, used, prepare_of(options_.cache), limit, ran)) {
    fault->reason += " (timed calls, shape " + problem_.shapes[shape].name + ")";
    return fault;
  }
  const double cpu = runner_->worker().cpu() - cpu_before;
  if (cpu_before >= 0 && cpu > 1.2 * problem_.threads * ran.seconds + 0.02)
    return Fault{Verdict::cheated,
                 threads_text("it used more processor time (" + milliseconds(cpu) + " in " +
                                  milliseconds(ran.seconds) + ") than its threads can have had",
                              problem_.threads)};
  if (auto fault = verify(secret, used, *set)) return fault;
  const double middle = median(ran.samples);
  if (ran.samples.size() >= 8) {
    const double waited = (runner_->worker().waited() - waited_before) / static_cast<double>(state.calls);
    ++(uneven(ran.samples, waited) ? state.uneven_batches : state.even_batches);
  }
  if (middle > 0) state.estimate = middle;
  samples.insert(samples.end(), ran.samples.begin(), ran.samples.end());
  return std::nullopt;
}

std::optional<Fault> HostWorker::lone_call(std::size_t shape) {
  select(shape);
  ShapeState& state = shapes_[shape];
  Slots& slots = runner_->slots();
  const std::size_t used = std::min<std::size_t>(slots.count(), 8);
  if (used < 2) return std::nullopt;
  const auto set = inputs_.for_timing(state.plan);
  for (std::size_t slot = 0; slot < used; ++slot)
    slots.fill(slot, set->contents, rng_(), slot == 0 ? nullptr : &rng_);
  std::vector<std::uint64_t> before;
  for (std::size_t slot = 0; slot < used; ++slot) before.push_back(hash_outputs(slot));
  Ran ran;
  if (auto fault = runner_->run(1, 1, 0, 1, Prepare::nothing, limit_seconds_, ran)) return fault;
  for (std::size_t slot = 1; slot < used; ++slot)
    if (hash_outputs(slot) != before[slot])
      return Fault{Verdict::cheated,
                   "a call wrote to the buffers of other calls (shape " + problem_.shapes[shape].name + ")"};
  return verify(0, 1, *set);
}

std::optional<Fault> HostWorker::evenness(std::size_t shape, const std::string& name) {
  const ShapeState& state = shapes_[shape];
  const auto suspicious = [&state] { return state.uneven_batches >= 3 && state.even_batches == 0; };
  // On a machine that others use a batch is looked at again before anything is said of it.
  for (int again = 0; again < 8 && suspicious() && load().disturbance() > disturbing; ++again) {
    std::vector<double> samples;
    if (auto fault = batch(shape, batch_seconds, samples)) return fault;
  }
  if (!suspicious()) return std::nullopt;
  const std::string what = "a few of its timed calls take the time of all (shape " + name + ")";
  if (const double disturbance = load().disturbance(); disturbance > disturbing)
    return not_distinguishable(what, disturbance);
  return Fault{Verdict::cheated, what};
}

std::optional<Fault> HostWorker::cross_check(std::size_t shape, double claimed) {
  select(shape);
  ShapeState& state = shapes_[shape];
  Slots& slots = runner_->slots();
  const auto& arguments = state.plan.arguments;
  const bool repeatable = std::none_of(
      arguments.begin(), arguments.end(),
      [](const PlannedArgument& argument) { return argument.is_array && argument.role == Role::inout; });
  // Repeated calls on one slot find it in the cache, as timed calls do, and with no work of ours between
  // them. An array that is updated in place may not be, lest its values grow: then each call has a slot and
  // the caches are as they come, which is slower by what memory is slower than cache.
  const double margin = repeatable ? 0.6 : 0.2;
  const std::size_t most = repeatable ? 100000 : slots.count();
  double each = 0;
  // More often where others use the machine: what they did to one attempt they may not do to the next.
  for (int attempt = 0; attempt < 5 || (attempt < 15 && load().disturbance() > disturbing); ++attempt) {
    if (attempt != 0) {  // the machine may have changed pace since: sample again beside the check
      std::vector<double> again;
      if (auto fault = batch(shape, batch_seconds, again)) return fault;
      claimed = median(again);
    }
    select(shape);
    const auto set = inputs_.for_timing(state.plan);
    Ran ran;
    double spent = 0;
    // More and more calls until they fill our clock: what is claimed may be far below the truth.
    std::size_t calls = 1;
    while (true) {
      const std::size_t used = repeatable ? 1 : calls;
      for (std::size_t slot = 0; slot < used; ++slot)
        slots.fill(slot, set->contents, rng_(), slot == 0 ? nullptr : &rng_);
      const double cpu_before = runner_->worker().cpu();
      if (auto fault =
              runner_->run(1, calls, 0, used, Prepare::nothing, limit_seconds_ + 20 * batch_seconds, ran))
        return fault;
      // Processor time leaves out what others ran on this core meanwhile, which no sample's median shows.
      // Shared out among the allowed threads it is the least time that the calls can have taken.
      spent = ran.seconds;
      if (cpu_before >= 0) spent = std::min(spent, (runner_->worker().cpu() - cpu_before) / problem_.threads);
      if (repeatable)
        if (auto fault = verify(0, 1, *set)) return fault;
      if (spent >= batch_seconds / 2 || ran.seconds >= 4 * batch_seconds || calls == most) break;
      calls = std::min(most, 4 * calls);
    }
    each = (spent - round_trip) / static_cast<double>(calls);
    if (judge_claim(claimed, each, margin, 0) == TimeJudgement::honest) return std::nullopt;
  }
  char text[160];
  std::snprintf(
      text, sizeof text,
      "its calls take %.4g us by the controller's clock, but only %.4g us as sampled beside it (shape %s)",
      1e6 * each, 1e6 * claimed, problem_.shapes[shape].name.c_str());
  const double disturbance = load().disturbance();
  if (judge_claim(claimed, each, margin, disturbance) == TimeJudgement::doubtful)
    return not_distinguishable(text, disturbance);
  return Fault{Verdict::cheated, text};
}

MachineLoad HostWorker::load() const {
  if (!meter_) return {};
  const double cpu = runner_->worker().cpu(), waited = runner_->worker().waited();
  const bool known = cpu_then_ >= 0 && waited_then_ >= 0 && cpu >= cpu_then_ && waited >= waited_then_;
  return meter_->load(known ? cpu - cpu_then_ : -1, known ? waited - waited_then_ : -1);
}

Fault not_distinguishable(const std::string& what, double disturbance) {
  char text[200];
  std::snprintf(
      text, sizeof text,
      "; this cannot be told from the load of the machine, of which others had up to %.0f %%: measure "
      "it again when the machine is idle",
      100 * disturbance);
  return {Verdict::timed_out, what + text};
}

std::optional<Fault> HostWorker::time_once(std::size_t shape, double& seconds) {
  std::vector<double> samples;
  if (auto fault = batch(shape, pair_seconds, samples)) return fault;
  seconds = median(samples);
  return std::nullopt;
}

std::optional<Fault> HostWorker::measure(Measurement& measurement, Features& features,
                                         std::optional<double> incumbent, const std::stop_token& stop) {
  const Combine combine =
      problem_.aggregate == Aggregate::geometric_mean ? Combine::geometric_mean : Combine::weighted_sum;
  meter_.emplace(cores_);
  cpu_then_ = runner_->worker().cpu();
  waited_then_ = runner_->worker().waited();
  std::vector<std::size_t> open;
  measurement.shapes.clear();
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    if (problem_.shapes[s].weight <= 0) continue;
    ShapeMeasurement shape;
    shape.shape = problem_.shapes[s].name;
    shape.weight = problem_.shapes[s].weight;
    measurement.shapes.push_back(std::move(shape));
    open.push_back(s);
  }
  const std::vector<std::size_t> timed = open;
  std::vector<bool> done(timed.size(), false);
  double calls_per_sample = 1;
  for (bool warmed = false; std::find(done.begin(), done.end(), false) != done.end(); warmed = true) {
    for (std::size_t i = 0; i < timed.size(); ++i) {
      if (done[i]) continue;
      ShapeState& state = shapes_[timed[i]];
      ShapeMeasurement& shape = measurement.shapes[i];
      const double begin = monotonic_seconds();
      select(timed[i]);
      if (!warmed) {
        plan_samples(state);
        std::vector<double> dropped;
        // one batch to warm up; a call this long has nothing to warm up that its check did not
        if (state.estimate < 0.05)
          if (auto fault = batch(timed[i], batch_seconds / 2, dropped)) return fault;
        plan_samples(state);
        calls_per_sample = std::max(calls_per_sample, static_cast<double>(state.calls));
      }
      if (auto fault = batch(timed[i], batch_seconds, shape.samples)) return fault;
      state.elapsed += monotonic_seconds() - begin;
      summarize(shape);
      if (const auto end = sampling_end(shape.samples, state.elapsed, options_.sampling)) {
        shape.ended = *end;
        done[i] = true;
      }
      if (stop.stop_requested()) {
        shape.ended = SamplingEnd::budget;
        done[i] = true;
      }
    }
    combine_shapes(measurement, combine);
    const bool enough = std::all_of(measurement.shapes.begin(), measurement.shapes.end(),
                                    [](const ShapeMeasurement& shape) { return shape.samples.size() >= 3; });
    if (incumbent && enough &&
        measurement.interval.low > *incumbent * (1 + options_.sampling.slower_margin)) {
      for (std::size_t i = 0; i < timed.size(); ++i)
        if (!done[i]) measurement.shapes[i].ended = SamplingEnd::slower;
      break;
    }
  }
  for (std::size_t i = 0; i < timed.size(); ++i) {
    if (auto fault = evenness(timed[i], measurement.shapes[i].shape)) return fault;
    if (auto fault = lone_call(timed[i])) return fault;
    if (auto fault = cross_check(timed[i], measurement.shapes[i].median)) return fault;
  }
  if (auto fault = runner_->worker().census()) return fault;
  features.set("calls_per_sample", calls_per_sample);
  return std::nullopt;
}

std::optional<Fault> time_unverified(Runner& runner, InputSet& set, CacheMode cache, double call_seconds,
                                     double& estimate, double& seconds) {
  Slots& slots = runner.slots();
  Rng rng(secret_seed());
  const double shortest = clock_readings * runner.worker().clock_seconds();
  const double guess = estimate > 0 ? estimate : call_seconds;
  const std::size_t calls = samples_for(shortest, guess, slots.count());
  const std::size_t count =
      samples_for(pair_seconds, guess * static_cast<double>(calls), slots.count() / calls);
  for (std::size_t slot = 0; slot < count * calls; ++slot) slots.fill(slot, set.contents, rng(), &rng);
  Ran ran;
  if (auto fault = runner.run(count, calls, 0, count * calls, prepare_of(cache),
                              call_seconds * static_cast<double>(count * calls), ran))
    return fault;
  seconds = estimate = median(ran.samples);
  return std::nullopt;
}

}  // namespace kernelsearch::detail
