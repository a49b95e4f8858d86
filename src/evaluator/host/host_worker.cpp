// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/host_worker.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "evaluator/host/time_judgement.hpp"
#include "judge/overrun_text.hpp"
#include "judge/pairs.hpp"
#include "process/pinned_thread.hpp"

namespace kernelsearch::detail {
namespace {

constexpr double round_seconds = 0.010;  // one call of so much is verified
constexpr double pair_seconds = 0.005;
// Of calls that are made together: over a hundred times what stopping and letting go takes, which is taken
// off besides.
constexpr double batch_seconds = 0.001;
// Longer calls are a batch each: there is nothing to make them together with.
constexpr double short_call = 30e-6;
// Short calls are made in batches that a second-level cache holds, which are shorter, though no shorter than
// this.
constexpr double short_batch_seconds = 100e-6;
constexpr std::size_t warm_bytes = std::size_t{512} << 10;
// What a few calls seem to take is no less than this part of what the clock takes, divided by their number:
// below that it is scatter, of which batches of thousands of calls would be made.
constexpr double least_seen = 0.25;
// Of short calls by several threads, whose clock is that of the wall.
constexpr double threads_batch_seconds = 0.001;
// Filled slots for each call of a batch, where the caches hold them; and what a batch of fewer calls lasts at
// least: what the clock takes can be taken off to 0.1 to 0.3 us.
constexpr double decoys = 4;
constexpr double least_batch_seconds = 50e-6;
// Slots of a batch that were not called and are looked at.
constexpr std::size_t looked_at = 4;
// Slots whose contents are copied before a batch where the kernel updates them: one of them is called.
constexpr std::size_t copied_before = 8;
// Of short calls while they are sampled, where the reference is cheap: a batch is over a hundred of them, so
// twenty or thirty mostly tell the median, and rounds of 10 ms would be two or three times as many. They are
// never sampled for less than two rounds: what disturbs the machine for a millisecond must not have most of
// them.
constexpr std::size_t short_batches = 12, warming_batches = 6, short_rounds = 2;
// Buffers are laid out for a kernel that is so much faster than the fastest before: laying out, sharing and
// clearing all 4096 slots of a small problem took half of the time of a check.
constexpr double much_faster = 4;
// Of batches that are shown again to two fresh processes, and of those before them, which are not looked at:
// what a kernel does in its first calls only is slow in both.
constexpr double replayed_seconds = 0.1;
constexpr std::size_t least_replayed = 32, most_replayed = 512, first_replayed = 8;
// Of the calls that are put by to be compared if the candidate may win, for one shape.
constexpr std::size_t reserve_bytes = std::size_t{64} << 20;
// Timed calls of a shape before a candidate may win, where they take no longer than sampling may: a kernel
// that is right for its first thirty calls would otherwise be judged by these alone.
constexpr std::size_t least_calls = 64;
// Calls of which the default configuration is of another opinion, though within twice the tolerance both may
// be right: so many are decided by an expensive reference of every candidate, the others of those that may
// win.
constexpr std::size_t most_doubtful = 3;
// What comparing calls may take once the run is asked to stop.
constexpr double stopped_seconds = 0.5;

// What the problem's generator may take to fill one batch, and all batches of a round: each call gets arrays
// of its own from it, so that there are fewer calls where it is slow, and never two on the same contents.
constexpr double generating_batch = 0.002, generating_round = 0.05;

std::size_t whole(double wanted, std::size_t most) {
  return static_cast<std::size_t>(
      std::clamp(wanted, 1.0, static_cast<double>(std::max<std::size_t>(most, 1))));
}

/// Calls whose slots a second-level cache holds.
double held_calls(const Slots& slots) {
  return static_cast<double>(warm_bytes / slots.slot_bytes());
}

/// Slots that are filled for a batch of calls of `estimate` seconds where there is room for them.
double wanted_slots(const Slots& slots, double estimate, CacheMode cache, int threads) {
  const double each = std::max(estimate, 1e-9);
  if (each >= short_call) return 1;
  if (threads > 1) return decoys * std::ceil(threads_batch_seconds / each);
  const double wanted = std::ceil(batch_seconds / each);
  if (cache != CacheMode::warm) return wanted;
  return std::min(wanted, std::max(held_calls(slots), std::ceil(short_batch_seconds / each)));
}

/// A batch: so many calls on some of the filled slots.
struct Batch {
  std::size_t calls = 1, filled = 1;
};

Batch batch_of(const Slots& slots, double estimate, CacheMode cache, int threads, const FreshInputs& fresh) {
  Batch batch;
  batch.filled = std::min(whole(wanted_slots(slots, estimate, cache, threads), slots.count()),
                          std::max<std::size_t>(fresh.calls_filled_in(generating_batch), 1));
  if (batch.filled == 1) return batch;
  // The others are no calls of this batch, and nobody can tell which these are. A kernel that does several at
  // once, of those that it sees, does most of them in vain.
  const double fewest = std::ceil(least_batch_seconds / std::max(estimate, 1e-9));
  batch.calls = whole(std::max(static_cast<double>(batch.filled) / decoys, fewest), batch.filled);
  return batch;
}

/// Batches that a generator fills within its time for a round, at most `most`.
std::size_t filled_batches(const FreshInputs& fresh, std::size_t filled, std::size_t most) {
  return std::clamp<std::size_t>(fresh.calls_filled_in(generating_round) / filled, 1, most);
}

std::vector<std::uint32_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  Rng(seed).shuffle(order);
  return order;
}

/// Seeds that nothing can be told from: not one of them, and not what a process was shown of others.
std::vector<std::uint64_t> secret_seeds(std::size_t count) {
  std::vector<std::uint64_t> seeds(count);
  fill_secret(std::as_writable_bytes(std::span(seeds)));
  return seeds;
}

/// Fills slots with contents of their own, `known` (if there is one) with the set as it is.
void fill_slots(Slots& slots, std::size_t filled, std::size_t known, const Contents& contents,
                const FreshInputs& fresh, CacheMode cache, std::span<const std::uint64_t> seeds) {
  for (std::size_t slot = 0; slot < filled; ++slot)
    if (slot == known)
      slots.fill(slot, contents, seeds[2 * slot]);
    else
      slots.fill(slot, contents, seeds[2 * slot], fresh, seeds[2 * slot + 1]);
  if (cache == CacheMode::cold)
    for (std::size_t slot = 0; slot < filled; ++slot) slots.flush(slot);
}

void fill_slots(Slots& slots, std::size_t filled, std::size_t known, const Contents& contents,
                const FreshInputs& fresh, CacheMode cache) {
  fill_slots(slots, filled, known, contents, fresh, cache, secret_seeds(2 * filled));
}

/// The batch that `seed` makes, in its order.
void fill_batch(Slots& slots, std::size_t calls, const Contents& contents, const FreshInputs& fresh,
                CacheMode cache, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::uint64_t> seeds(2 * calls);
  for (std::uint64_t& each : seeds) each = rng();
  fill_slots(slots, calls, calls, contents, fresh, cache, seeds);
  slots.order(shuffled(calls, rng()));
}

std::uint64_t hash_of(const std::vector<std::vector<std::byte>>& outputs) {
  std::uint64_t hash = 0;
  for (const auto& output : outputs)
    hash = hash * 0x9e3779b97f4a7c15u + hash_bytes(output.data(), output.size());
  return hash;
}

/// Seconds of a call without what the clock takes; what is charged is more than that but for its scatter.
double per_call(double charged, double overhead, std::size_t calls) {
  return std::max(charged - overhead, 0.01 * charged) / static_cast<double>(calls);
}

}  // namespace

HostWorker::HostWorker(const Problem& problem, const HostOptions& options, const WorkerSettings& settings,
                       InputSets& inputs, Verifier& verifier, ClockOverhead& clock, TimeFloor& floor,
                       const Candidate& candidate, const HostSubject& subject,
                       std::span<const double> fastest)
    : problem_(problem),
      options_(options),
      subject_(subject),
      inputs_(inputs),
      verifier_(verifier),
      clock_(clock),
      floor_(floor),
      settings_(settings),
      cores_(settings.cores),
      limit_seconds_(options.limits.call_seconds) {
  ArenaBytes bytes;
  shapes_.resize(problem.shapes.size());
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    ShapeState& state = shapes_[s];
    state.plan = plan_shape(problem, candidate, s);
    const Slots all(state.plan, subject.storage, options.buffer_memory, 2, most_slots);
    state.slots = most_slots;
    if (s < fastest.size() && fastest[s] > 0) {
      const double wanted = wanted_slots(all, fastest[s] / much_faster, options.cache, problem.threads);
      state.slots = whole(std::max({wanted, held_calls(all), 32.0}), most_slots);
    }
    const ArenaBytes needed =
        Slots(state.plan, subject.storage, options.buffer_memory, 2, state.slots).arena_bytes();
    bytes.inputs = std::max(bytes.inputs, needed.inputs);
    bytes.outputs = std::max(bytes.outputs, needed.outputs);
  }
  runner_ = std::make_unique<Runner>(settings, subject.library, subject.storage, false, bytes);
}

void HostWorker::select(std::size_t shape) {
  if (selected_ == shape) return;
  runner_->select(shapes_[shape].plan, options_.buffer_memory, 2, shapes_[shape].slots);
  selected_ = shape;
}

Contents HostWorker::spare() {
  if (spare_.empty()) return {};
  Contents memory = std::move(spare_.back());
  spare_.pop_back();
  return memory;
}

std::optional<Fault> HostWorker::guards(std::size_t first, std::size_t count) const {
  const Slots& slots = runner_->slots();
  for (std::size_t slot = first; slot < first + count; ++slot)
    if (!slots.guards_intact(slot))
      return Fault{Verdict::cheated, overrun_text(problem_, slots, slot) + " (shape " +
                                         problem_.shapes[slots.plan().shape].name + ")"};
  return std::nullopt;
}

std::optional<Fault> HostWorker::run(std::size_t calls, std::size_t first, double limit_seconds,
                                     double& seconds) {
  if (auto fault = runner_->run(calls, first, limit_seconds, seconds)) return explained(std::move(*fault));
  seconds = per_call(seconds, overhead_, calls);
  return std::nullopt;
}

std::optional<Fault> HostWorker::run_drawn(const ShapeState& state, double limit_seconds, double& seconds) {
  if (auto fault = runner_->run_drawn(state.calls, state.filled, limit_seconds, seconds, drawn_)) {
    *fault = explained(std::move(*fault));
    fault->reason += " (timed calls)";
    return fault;
  }
  seconds = per_call(seconds, overhead_, state.calls);
  // At most half: a short kernel's work overlaps with the loop's, and what is left must not look impossible.
  if (state.calls > 1) seconds -= std::min(state.loop, seconds / 2);
  return std::nullopt;
}

Fault HostWorker::explained(Fault fault) {
  if (const auto changed = runner_->changed_input())
    fault.reason = "it changed its input " + problem_.arguments[*changed].name;
  fault.reason += " (shape " + problem_.shapes[runner_->slots().plan().shape].name + ")";
  return fault;
}

void HostWorker::solve(ShapeState& state, InputSet& set) {
  inputs_.solve(state.plan, set);
  state.unwritten.resize(set.expected.size());
  for (std::size_t a = 0; a < set.expected.size(); ++a) {
    const auto& unwritten = set.expected[a].unwritten;
    state.unwritten[a] = std::max(
        state.unwritten[a], static_cast<std::size_t>(std::count(unwritten.begin(), unwritten.end(), true)));
  }
}

std::optional<Fault> HostWorker::try_shape(std::size_t shape) {
  select(shape);
  ShapeState& state = shapes_[shape];
  state.unwritten.assign(state.plan.arguments.size(), 0);
  double seconds = 0;
  {
    const PinnedThread here(runner_->core());
    fill_slots(runner_->slots(), 1, 1, inputs_.others(state.plan), inputs_.fresh(state.plan), options_.cache);
    if (auto fault = run(1, 0, options_.limits.run_seconds, seconds)) return fault;
  }
  state.estimate = std::max(seconds, least_seen * overhead_);
  return guards(0, 1);
}

bool HostWorker::is_assured() const {
  return std::all_of(shapes_.begin(), shapes_.end(), [&](const ShapeState& state) {
    return problem_.shapes[state.plan.shape].weight <= 0 || state.verified >= least_verified;
  });
}

std::optional<Fault> HostWorker::check(Features& features, Extent extent) {
  if (runner_->fault()) return runner_->fault();
  if (!subject_.is_reference) inputs_.next_candidate();
  overhead_ = clock_.of_batch_lately();
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
  if (subject_.is_reference) {
    for (const std::size_t shape : order)
      if (problem_.shapes[shape].weight > 0)
        if (auto fault = try_shape(shape)) return fault;
    return std::nullopt;
  }
  for (const std::size_t shape : order)
    if (extent == Extent::all || problem_.shapes[shape].weight > 0)
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
  auto sets = inputs_.for_check(state.plan, shown_);
  sets.push_back(sets.front());  // once more, at another address: two runs must agree
  std::vector<std::vector<std::byte>> first;
  for (std::size_t begin = 0; begin < sets.size(); begin += slots.count()) {
    const std::size_t count = std::min(slots.count(), sets.size() - begin);
    // The first call alone: a kernel that hangs costs its limit once, and the others are limited by what it
    // took.
    double alone = 0, each = 0;
    std::optional<Fault> fault;
    {
      const PinnedThread here(runner_->core());
      const auto seeds = secret_seeds(count);
      for (std::size_t i = 0; i < count; ++i) slots.fill(i, sets[begin + i]->contents, seeds[i]);
      fault = run(1, 0, limit_seconds_, alone);
      if (!fault && count > 1)
        fault = run(count - 1, 1, limit_seconds_ + 10 * alone * static_cast<double>(count), each);
    }
    if (fault) return fault;
    double fastest = std::max(alone, least_seen * overhead_);
    if (count > 1)
      fastest = std::min(fastest, std::max(each, least_seen * overhead_ / static_cast<double>(count - 1)));
    state.estimate = begin == 0 ? fastest : std::min(state.estimate, fastest);
    std::vector<std::vector<std::vector<std::byte>>> got;
    for (std::size_t i = 0; i < count; ++i) got.push_back(slots.outputs(i));
    if ((fault = guards(0, count))) return fault;
    for (std::size_t i = 0; i < count; ++i) {
      solve(state, *sets[begin + i]);
      if ((fault = inputs_.compare(state.plan, *sets[begin + i], got[i]))) return fault;
    }
    for (const auto& outputs : got) state.results.insert(hash_of(outputs));
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

void HostWorker::plan_batches(ShapeState& state) {
  const Batch batch = state.alone ? Batch{}
                                  : batch_of(runner_->slots(), state.estimate, options_.cache,
                                             problem_.threads, inputs_.fresh(state.plan));
  state.calls = batch.calls;
  state.filled = batch.filled;
  if (state.calls > 1) state.loop = clock_.of_call(state.plan.arguments.size());
}

bool HostWorker::cramped() const {
  return std::any_of(shapes_.begin(), shapes_.end(), [this](const ShapeState& state) {
    if (state.slots == most_slots || state.alone || state.elapsed <= 0) return false;
    const Slots slots(state.plan, subject_.storage, options_.buffer_memory, 2, most_slots);
    return whole(wanted_slots(slots, state.estimate, options_.cache, problem_.threads), slots.count()) >
           state.slots;
  });
}

Fault HostWorker::wrote_others() const {
  return {Verdict::cheated,
          "a call wrote to the buffers of other calls (shape " + problem_.shapes[*selected_].name + ")"};
}

std::optional<Fault> HostWorker::inspect() {
  const ShapeState& state = shapes_[*selected_];
  const auto& arguments = state.plan.arguments;
  const Slots& slots = runner_->slots();
  if (auto fault = guards(0, state.filled)) return fault;
  const std::span called = std::span(drawn_).first(state.calls),
                  others = std::span(drawn_).subspan(state.calls);
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const PlannedArgument& argument = arguments[a];
    if (argument.role != Role::out || !argument.is_array || state.unwritten[a] != 0) continue;
    if (subject_.is_reference) {  // it may leave elements as they are, but is looked at like any other
      for (const std::uint32_t slot : called) (void)slots.poison_left(slot, a);
      continue;
    }
    for (std::size_t i = 0; i < looked_at && !others.empty(); ++i)
      if (!slots.is_all_poison(others[rng_.below(others.size())], a)) return wrote_others();
    const std::size_t allowed =
        size_in_bytes(argument.type) == 4 ? poison_by_chance(argument.type, argument.count) : 0;
    for (const std::uint32_t slot : called) {
      if (slots.poison_left(slot, a) <= allowed) continue;
      const Fault fault{Verdict::wrong_result,
                        "a timed call left elements of " + problem_.arguments[a].name + " unwritten"};
      // For these inputs the reference may leave them, too.
      if (std::any_of(arguments.begin(), arguments.end(), [](const PlannedArgument& other) {
            return other.is_array && other.role == Role::inout;
          }))
        return fault;
      Kept call{0, {}, slots.outputs(slot)};
      call.set.contents = slots.inputs(slot);
      bool decided = false;
      if (verify(*selected_, call, Price::any, decided)) return fault;
    }
  }
  return std::nullopt;
}

std::optional<Fault> HostWorker::verify(std::size_t shape, Kept& call, Price price, bool& decided) {
  ShapeState& state = shapes_[shape];
  decided = subject_.is_reference;
  if (decided) return std::nullopt;
  if (!call.set.solved && inputs_.is_expensive(state.plan)) {
    const auto known = inputs_.known(state.plan);
    const auto opinion =
        known ? verifier_.compare(state.plan, *known, call.set.contents, call.outputs, subject_.library)
              : Verifier::Opinion::none;
    if (opinion == Verifier::Opinion::same) {
      decided = true;
      ++verified_;
      ++state.verified;
      return std::nullopt;
    }
    const bool differs = opinion == Verifier::Opinion::different && ++state.doubtful <= most_doubtful;
    if (price == Price::fair && !differs) return std::nullopt;
  }
  solve(state, call.set);
  decided = true;
  ++verified_;
  ++state.verified;
  auto fault = inputs_.compare(state.plan, call.set, call.outputs);
  const std::uint64_t hash = hash_of(call.outputs);
  if (!fault) {
    state.results.insert(hash);
    if (call.set.seed == 0) shown_.insert(call.set.seed = secret_seed());
    inputs_.keep(state.plan, call.set);
    return std::nullopt;
  }
  if (state.results.contains(hash))
    return Fault{Verdict::cheated, "a timed call gave the result of an earlier call: " + fault->reason};
  fault->reason = "in a timed call, " + fault->reason;
  return fault;
}

std::shared_ptr<InputSet> HostWorker::timing_set(const ShapePlan& plan) {
  return subject_.is_reference ? inputs_.for_reference(plan) : inputs_.for_timing(plan, shown_);
}

void HostWorker::recycle(Kept call) {
  if (spare_.size() >= 2 * most_batches) return;
  spare_.push_back(std::move(call.set.contents));
  spare_.push_back(std::move(call.outputs));
}

void HostWorker::put_by(ShapeState& state, Kept call) {
  const Slots slots(state.plan, Storage::native, 0, 1, 1);
  const std::size_t room = std::clamp<std::size_t>(reserve_bytes / slots.slot_bytes(), 1, least_verified);
  ++state.offered;
  if (state.reserve.size() < room) {
    state.reserve.push_back(std::move(call));
    return;
  }
  if (const std::size_t place = rng_.below(state.offered); place < state.reserve.size())
    std::swap(state.reserve[place], call);
  recycle(std::move(call));
}

std::optional<Fault> HostWorker::verify_some(std::size_t shape, std::vector<Kept> kept, double seconds) {
  ShapeState& state = shapes_[shape];
  // Whoever leaves something out is fast where he does.
  std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) { return a.seconds < b.seconds; });
  const std::size_t chosen = rng_.below(std::max<std::size_t>((kept.size() + 1) / 2, 1));
  // Where that takes longer than the round itself it is left to those that may win.
  const bool fair = !inputs_.is_expensive(state.plan) || verifier_.seconds(shape) <= seconds;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    bool decided = false;
    if (kept[i].set.solved || (i == chosen && fair))
      if (auto fault = verify(shape, kept[i], Price::fair, decided)) return fault;
    if (decided)
      recycle(std::move(kept[i]));
    else
      put_by(state, std::move(kept[i]));
  }
  return std::nullopt;
}

std::optional<Fault> HostWorker::call_on(std::size_t shape, const std::stop_token& stop) {
  ShapeState& state = shapes_[shape];
  const std::size_t wanted =
      whole(options_.sampling.budget_seconds / std::max(state.estimate, 1e-9), least_calls);
  while (state.timed < wanted && !stop.stop_requested()) {
    std::vector<double> more;
    const double left = static_cast<double>(wanted - state.timed) * state.estimate;
    if (auto fault = round(shape, std::min(left, round_seconds), more, short_batches)) return fault;
  }
  return std::nullopt;
}

std::optional<Fault> HostWorker::assure(std::size_t calls, const std::stop_token& stop) {
  if (subject_.is_reference) return std::nullopt;
  for (std::size_t s = 0; s < shapes_.size(); ++s)
    if (problem_.shapes[s].weight > 0)
      if (auto fault = assure(s, calls, stop)) return fault;
  return std::nullopt;
}

std::optional<Fault> HostWorker::assure(std::size_t shape, std::size_t calls, const std::stop_token& stop) {
  ShapeState& state = shapes_[shape];
  const std::size_t wanted = std::min(calls, state.timed);
  const double begin = monotonic_seconds();
  const auto is_late = [&] {
    return stop.stop_requested() && (state.reserve.empty() || monotonic_seconds() - begin > stopped_seconds);
  };
  for (std::size_t rounds = 0; state.verified < wanted && rounds <= 2 * calls && !is_late();) {
    if (state.reserve.empty()) {
      std::vector<double> more;
      if (auto fault = round(shape, round_seconds, more, short_batches)) return fault;
      ++rounds;
      continue;
    }
    std::swap(state.reserve[rng_.below(state.reserve.size())], state.reserve.back());
    Kept call = std::move(state.reserve.back());
    state.reserve.pop_back();
    bool decided = false;
    if (auto fault = verify(shape, call, Price::any, decided)) return fault;
    recycle(std::move(call));
  }
  if (state.verified >= wanted) return std::nullopt;
  return Fault{Verdict::timed_out, "unverified: " + std::to_string(state.verified) +
                                       " of its timed calls were compared with what is right, " +
                                       std::to_string(wanted) + " are needed (shape " +
                                       problem_.shapes[shape].name + "); give the run more time"};
}

std::optional<Fault> HostWorker::round(std::size_t shape, double target_seconds, std::vector<double>& samples,
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
  // That our worker had the core is no load.
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

std::optional<Fault> HostWorker::evenness(std::size_t shape) {
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

std::optional<Fault> HostWorker::shown_again(std::size_t shape, Pattern& pattern) {
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

std::optional<Fault> HostWorker::replay(std::size_t shape, const Contents& contents,
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

std::optional<Fault> HostWorker::lone_calls(std::size_t shape, std::size_t filled, std::size_t calls,
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
      std::vector<double> each(called.size());
      for (std::size_t i = 0; i < called.size() && !fault; ++i)
        fault = run(1, called[i], limit_seconds_, each[i]);
      // Others only make calls longer, and nothing that a kernel does makes one shorter than its work.
      if (!fault) seconds = *std::min_element(each.begin(), each.end());
    }
  }
  if (fault) return lockstep ? explained(std::move(*fault)) : std::move(*fault);
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

std::optional<Fault> HostWorker::one_by_one(std::size_t shape, double claimed) {
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
    std::vector<double> again;  // the machine may have changed pace: sample again beside the check
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

std::optional<Fault> HostWorker::settle(std::size_t shape) {
  select(shape);
  ShapeState& state = shapes_[shape];
  state.alone = false;
  plan_batches(state);
  if (state.calls == 1 && state.estimate >= long_call) return one_by_one(shape, state.estimate);
  std::vector<double> samples;
  if (auto fault = round(shape, round_seconds / 2, samples)) return fault;
  plan_batches(state);
  samples.clear();
  if (auto fault = round(shape, round_seconds / 2, samples)) return fault;
  return one_by_one(shape, median(samples));
}

bool HostWorker::gains_only_together(std::size_t shape, const HostWorker& other) const {
  const ShapeState &ours = shapes_[shape], &theirs = other.shapes_[shape];
  const bool faster = ours.together < theirs.together;
  const ShapeState &fast = faster ? ours : theirs, &slow = faster ? theirs : ours;
  const double gain = slow.together - fast.together;
  return gain > least_gain * slow.together + gain_allowance && slow.lone - fast.lone < gain / 2;
}

MachineLoad HostWorker::load() const {
  if (!meter_) return {};
  const double cpu = runner_->worker().cpu(), waited = runner_->worker().waited();
  const bool known = cpu_then_ >= 0 && waited_then_ >= 0 && cpu >= cpu_then_ && waited >= waited_then_;
  // Nor is it that the worker waited while we had the core.
  const double for_others = std::max(waited - waited_then_ - cpu_here_, 0.0);
  return meter_->load(known ? cpu - cpu_then_ + cpu_here_ : -1, known ? for_others + waited_here_ : -1);
}

std::optional<Fault> HostWorker::time_once(std::size_t shape, double& seconds) {
  select(shape);
  plan_batches(shapes_[shape]);
  std::vector<double> samples;
  if (auto fault = round(shape, pair_seconds, samples)) return fault;
  seconds = median(samples);
  return std::nullopt;
}

/// Rounds of about 10 ms, for the sampling loop.
struct HostWorker::SampleTimer : PlainSampleTimer {
  explicit SampleTimer(HostWorker& of) : worker(of) {}

  std::optional<Fault> sample(std::size_t shape, const ShapeMeasurement& so_far,
                              std::vector<double>& samples) {
    ShapeState& state = worker.shapes_[shape];
    const double begin = monotonic_seconds();
    worker.select(shape);
    if (so_far.samples.empty()) {
      state.elapsed = 0;
      worker.plan_batches(state);
      std::vector<double> dropped;
      // one batch to warm up; a call this long has nothing to warm up that its check did not
      if (state.estimate < 0.05)
        if (auto fault = worker.round(shape, round_seconds / 2, dropped, warming_batches)) return fault;
      worker.plan_batches(state);
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

  HostWorker& worker;
  double calls_per_sample = 1;  ///< a sample is a batch
};

std::optional<Fault> HostWorker::measure(Measurement& measurement, Features& features,
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
