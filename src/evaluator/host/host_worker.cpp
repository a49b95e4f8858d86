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
// Of calls by several threads, whose clock is that of the wall.
constexpr double threads_batch_seconds = 0.005;
// Of short calls while they are sampled, where the reference is cheap: a batch is over a hundred of them, so
// twenty or thirty mostly tell the median, and rounds of 10 ms would be two or three times as many. They are
// never sampled for less than two rounds: what disturbs the machine for a millisecond must not have most of
// them.
constexpr std::size_t short_batches = 12, warming_batches = 6, short_rounds = 2;
// Buffers are laid out for a kernel that is so much faster than the fastest before: laying out, sharing and
// clearing all 4096 slots of a small problem took half of the time of a check.
constexpr double much_faster = 4;
// The mean of batches over their median, at most: a kernel that left out most of its batches would have the
// median of those.
constexpr double most_uneven = 1.5;

// What the problem's generator may take to fill one batch, and all batches of a round: each call gets arrays of its
// own from it, so that there are fewer calls where it is slow, and never two on the same contents.
constexpr double generating_batch = 0.002, generating_round = 0.05;

std::size_t whole(double wanted, std::size_t most) {
  return static_cast<std::size_t>(
      std::clamp(wanted, 1.0, static_cast<double>(std::max<std::size_t>(most, 1))));
}

/// Calls whose slots a second-level cache holds.
double held_calls(const Slots& slots) {
  return static_cast<double>(warm_bytes / slots.slot_bytes());
}

/// Calls of `estimate` seconds that a batch is made of where there is room for them.
double wanted_calls(const Slots& slots, double estimate, CacheMode cache, int threads) {
  const double each = std::max(estimate, 1e-9);
  if (threads == 1 && each >= short_call) return 1;
  const double wanted = std::ceil((threads > 1 ? threads_batch_seconds : batch_seconds) / each);
  if (cache != CacheMode::warm || each >= short_call) return wanted;
  return std::min(wanted, std::max(held_calls(slots), std::ceil(short_batch_seconds / each)));
}

std::size_t batch_calls(const Slots& slots, double estimate, CacheMode cache, int threads,
                        const FreshInputs& fresh) {
  return std::min(whole(wanted_calls(slots, estimate, cache, threads), slots.count()),
                  fresh.calls_filled_in(generating_batch));
}

/// Batches that a generator fills within its time for a round, at most `most`.
std::size_t filled_batches(const FreshInputs& fresh, std::size_t calls, std::size_t most) {
  return std::clamp<std::size_t>(fresh.calls_filled_in(generating_round) / calls, 1, most);
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

/// Fills the slots of a batch with contents of their own, `known` (if there is one) with the set as it is,
/// and has them called in a random order.
void fill_batch(Slots& slots, std::size_t calls, std::size_t known, const Contents& contents,
                const FreshInputs& fresh, CacheMode cache) {
  const auto seeds = secret_seeds(2 * calls + 1);
  for (std::size_t slot = 0; slot < calls; ++slot)
    if (slot == known)
      slots.fill(slot, contents, seeds[2 * slot]);
    else
      slots.fill(slot, contents, seeds[2 * slot], fresh, seeds[2 * slot + 1]);
  slots.order(shuffled(calls, seeds.back()));
  if (cache == CacheMode::cold)
    for (std::size_t slot = 0; slot < calls; ++slot) slots.flush(slot);
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
                       InputSets& inputs, ClockOverhead& clock, TimeFloor& floor, const Candidate& candidate,
                       const std::filesystem::path& library, std::span<const double> fastest)
    : problem_(problem),
      options_(options),
      inputs_(inputs),
      clock_(clock),
      floor_(floor),
      cores_(settings.cores),
      limit_seconds_(options.limits.call_seconds) {
  ArenaBytes bytes;
  shapes_.resize(problem.shapes.size());
  for (std::size_t s = 0; s < shapes_.size(); ++s) {
    ShapeState& state = shapes_[s];
    state.plan = plan_shape(problem, candidate, s);
    const Slots all(state.plan, Storage::native, options.buffer_memory, 2, most_slots);
    state.slots = most_slots;
    if (s < fastest.size() && fastest[s] > 0) {
      const double wanted = wanted_calls(all, fastest[s] / much_faster, options.cache, problem.threads);
      state.slots = whole(std::max({wanted, held_calls(all), 32.0}), most_slots);
    }
    const ArenaBytes needed =
        Slots(state.plan, Storage::native, options.buffer_memory, 2, state.slots).arena_bytes();
    bytes.inputs = std::max(bytes.inputs, needed.inputs);
    bytes.outputs = std::max(bytes.outputs, needed.outputs);
  }
  runner_ = std::make_unique<Runner>(settings, library, Storage::native, false, bytes);
}

void HostWorker::select(std::size_t shape) {
  if (selected_ == shape) return;
  runner_->select(shapes_[shape].plan, options_.buffer_memory, 2, shapes_[shape].slots);
  selected_ = shape;
}

std::vector<std::vector<std::byte>> HostWorker::outputs(std::size_t slot, Contents copies) {
  const Slots& slots = runner_->slots();
  copies.resize(slots.plan().arguments.size());
  for (std::size_t a = 0; a < copies.size(); ++a)
    if (slots.plan().arguments[a].is_output())
      copies[a].assign(slots.data(slot, a), slots.data(slot, a) + slots.bytes(a));
    else
      copies[a].clear();
  return copies;
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
      return Fault{Verdict::cheated,
                   "it wrote outside of its arrays (shape " + problem_.shapes[slots.plan().shape].name + ")"};
  return std::nullopt;
}

std::optional<Fault> HostWorker::run(std::size_t calls, std::optional<std::size_t> first,
                                     double limit_seconds, double& seconds) {
  auto fault = first ? runner_->run(calls, *first, limit_seconds, seconds)
                     : runner_->run_ordered(calls, limit_seconds, seconds);
  if (fault) return explained(std::move(*fault));
  seconds = per_call(seconds, overhead_, calls);
  return std::nullopt;
}

Fault HostWorker::explained(Fault fault) {
  if (const auto changed = runner_->changed_input())
    fault.reason = "it changed its input " + problem_.arguments[*changed].name;
  fault.reason += " (shape " + problem_.shapes[runner_->slots().plan().shape].name + ")";
  return fault;
}

void HostWorker::solve(InputSet& set) {
  ShapeState& state = shapes_[*selected_];
  inputs_.solve(state.plan, set);
  state.unwritten.resize(set.expected.size());
  for (std::size_t a = 0; a < set.expected.size(); ++a) {
    const auto& unwritten = set.expected[a].unwritten;
    state.unwritten[a] = std::max(
        state.unwritten[a], static_cast<std::size_t>(std::count(unwritten.begin(), unwritten.end(), true)));
  }
}

std::optional<Fault> HostWorker::check(Features& features) {
  if (runner_->fault()) return runner_->fault();
  inputs_.next_candidate();
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
    for (std::size_t i = 0; i < count; ++i) got.push_back(outputs(i));
    if ((fault = guards(0, count))) return fault;
    for (std::size_t i = 0; i < count; ++i) {
      solve(*sets[begin + i]);
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

void HostWorker::plan_batches(ShapeState& state) const {
  state.calls = state.alone ? 1
                            : batch_calls(runner_->slots(), state.estimate, options_.cache, problem_.threads,
                                          inputs_.fresh(state.plan));
}

bool HostWorker::cramped() const {
  return std::any_of(shapes_.begin(), shapes_.end(), [this](const ShapeState& state) {
    if (state.slots == most_slots || state.alone || state.elapsed <= 0) return false;
    const Slots slots(state.plan, Storage::native, options_.buffer_memory, 2, most_slots);
    return whole(wanted_calls(slots, state.estimate, options_.cache, problem_.threads), slots.count()) >
           state.slots;
  });
}

std::optional<Fault> HostWorker::inspect(std::size_t calls) {
  const ShapeState& state = shapes_[*selected_];
  const auto& arguments = state.plan.arguments;
  const Slots& slots = runner_->slots();
  if (auto fault = guards(0, calls)) return fault;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const PlannedArgument& argument = arguments[a];
    if (argument.role != Role::out || !argument.is_array || state.unwritten[a] != 0) continue;
    const std::size_t allowed =
        size_in_bytes(argument.type) == 4 ? poison_by_chance(argument.type, argument.count) : 0;
    for (std::size_t slot = 0; slot < calls; ++slot) {
      if (slots.poison_left(slot, a) <= allowed) continue;
      const Fault fault{Verdict::wrong_result,
                        "a timed call left elements of " + problem_.arguments[a].name + " unwritten"};
      // For these inputs the reference may leave them, too.
      if (std::any_of(arguments.begin(), arguments.end(), [](const PlannedArgument& other) {
            return other.is_array && other.role == Role::inout;
          }))
        return fault;
      InputSet set;
      set.contents = slots.inputs(slot);
      const auto got = outputs(slot);
      if (verify(got, set)) return fault;
    }
  }
  return std::nullopt;
}

std::optional<Fault> HostWorker::verify(const std::vector<std::vector<std::byte>>& got, InputSet& set) {
  ShapeState& state = shapes_[*selected_];
  solve(set);
  auto fault = inputs_.compare(state.plan, set, got);
  const std::uint64_t hash = hash_of(got);
  ++verified_;
  if (!fault) {
    state.results.insert(hash);
    return std::nullopt;
  }
  if (state.results.contains(hash))
    return Fault{Verdict::cheated, "a timed call gave the result of an earlier call: " + fault->reason};
  fault->reason = "in a timed call, " + fault->reason;
  return fault;
}

std::optional<Fault> HostWorker::round(std::size_t shape, double target_seconds, std::vector<double>& samples,
                                       std::size_t most_short) {
  select(shape);
  ShapeState& state = shapes_[shape];
  Slots& slots = runner_->slots();
  const std::size_t calls = state.calls;
  const auto set = inputs_.for_timing(state.plan, shown_);
  const FreshInputs& fresh = inputs_.fresh(state.plan);
  const double limit = limit_seconds_ + 20 * state.estimate * static_cast<double>(calls);
  // Where the reference is cheap any call can be verified afterwards, and it is one of a fast batch: whoever
  // leaves something out is fast where he does. Else the set whose result is known has its place before.
  const bool dear = set->solved || !set->can_solve;
  const std::size_t most =
      filled_batches(fresh, calls, dear || state.estimate >= short_call ? most_batches : most_short);
  const std::size_t batches =
      whole(target_seconds / (std::max(state.estimate, 1e-9) * static_cast<double>(calls)), most);
  const auto secrets = secret_seeds(batches + 2);
  const std::size_t known_batch = set->solved ? secrets[0] % batches : batches;
  struct Kept {
    std::size_t batch = 0;
    InputSet set;
    std::vector<std::vector<std::byte>> outputs;
  };
  std::vector<Kept> kept;
  std::vector<double> round;
  // All the while, also while the worker is stopped: moving to another core and back takes as long as many a
  // batch does.
  std::optional<PinnedThread> here(std::in_place, runner_->core());
  const double cpu_before = clock_seconds(CLOCK_THREAD_CPUTIME_ID), waited_before = waited_here(),
               worker_before = runner_->worker().cpu();
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const std::size_t chosen = secrets[batch + 2] % calls;
    const bool keep = !dear || batch == known_batch;
    double seconds = 0;
    fill_batch(slots, calls, batch == known_batch ? chosen : calls, set->contents, fresh, options_.cache);
    if (!dear) {
      kept.push_back({batch, {}, {}});
      kept.back().set.contents = slots.inputs(chosen, spare());
      if (options_.cache == CacheMode::cold) slots.flush(chosen);
    }
    auto fault = run(calls, std::nullopt, limit, seconds);
    if (fault) {
      fault->reason += " (timed calls)";
      return fault;
    }
    if (keep && dear) kept.push_back({batch, *set, {}});
    if (keep) kept.back().outputs = outputs(chosen, spare());
    if ((fault = inspect(calls))) return fault;
    round.push_back(seconds);
    timed_ += calls;
  }
  cpu_here_ += clock_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
  // That our worker had the core is no load.
  const double ours = runner_->worker().cpu() - worker_before;
  waited_here_ += std::max(waited_here() - waited_before - ours, 0.0);
  here.reset();
  if (!kept.empty()) {
    std::sort(kept.begin(), kept.end(),
              [&](const Kept& a, const Kept& b) { return round[a.batch] < round[b.batch]; });
    Kept& one = kept[secrets[1] % ((kept.size() + 1) / 2)];
    if (auto fault = verify(one.outputs, one.set)) return fault;
  }
  for (Kept& one : kept) {
    if (!dear) spare_.push_back(std::move(one.set.contents));
    spare_.push_back(std::move(one.outputs));
  }
  const double middle = median(round);
  const double mean = std::accumulate(round.begin(), round.end(), 0.0) / static_cast<double>(round.size());
  ++(mean > most_uneven * middle ? state.uneven : state.even);
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
  const std::string what =
      "a few of its timed calls take the time of all (shape " + problem_.shapes[shape].name + ")";
  if (const double disturbance = load().disturbance(); disturbance > disturbing)
    return not_distinguishable(what, disturbance);
  return Fault{Verdict::cheated, what};
}

std::optional<Fault> HostWorker::lone_calls(std::size_t shape, std::size_t filled, std::size_t calls,
                                            bool lockstep, double& seconds) {
  select(shape);
  ShapeState& state = shapes_[shape];
  Slots& slots = runner_->slots();
  const std::size_t generated = inputs_.fresh(state.plan).calls_filled_in(generating_round);
  filled = std::clamp<std::size_t>(generated, 2, std::min(slots.count(), filled));
  const auto set = inputs_.for_timing(state.plan, shown_);
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
    fill_batch(slots, filled, called.front(), set->contents, fresh, options_.cache);
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
  const Fault wrote_others{Verdict::cheated, "a call wrote to the buffers of other calls (shape " +
                                                 problem_.shapes[shape].name + ")"};
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    if (!arguments[a].is_output()) continue;
    for (std::size_t i = called.size(); i < filled; ++i) {
      const std::size_t slot = order[i];
      if (before[a].empty() ? !slots.is_all_poison(slot, a) : hash(slot, a) != before[a][slot])
        return wrote_others;
    }
  }
  if (auto outside = guards(0, filled)) return outside;
  if (set->solved || set->can_solve) return verify(outputs(called.front()), *set);
  return std::nullopt;
}

std::optional<Fault> HostWorker::one_by_one(std::size_t shape, double claimed) {
  ShapeState& state = shapes_[shape];
  select(shape);
  double each = 0;
  // Every call was a batch of its own, or there is no processor time to tell by.
  if (state.calls == 1 || problem_.threads > 1) {
    state.lone = state.together = claimed;
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
  select(shape);
  plan_batches(shapes_[shape]);
  std::vector<double> samples;
  if (auto fault = round(shape, pair_seconds, samples)) return fault;
  seconds = median(samples);
  return std::nullopt;
}

std::optional<Fault> HostWorker::measure(Measurement& measurement, Features& features,
                                         std::optional<double> incumbent, const std::stop_token& stop) {
  const Combine combine =
      problem_.aggregate == Aggregate::geometric_mean ? Combine::geometric_mean : Combine::weighted_sum;
  overhead_ = clock_.of_batch();
  meter_.emplace(cores_);
  cpu_here_ = waited_here_ = 0;
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
  double calls_per_sample = 1;  // a sample is a batch
  for (std::size_t rounds = 1; std::find(done.begin(), done.end(), false) != done.end(); ++rounds) {
    for (std::size_t i = 0; i < timed.size(); ++i) {
      if (done[i]) continue;
      ShapeState& state = shapes_[timed[i]];
      ShapeMeasurement& shape = measurement.shapes[i];
      const double begin = monotonic_seconds();
      select(timed[i]);
      if (rounds == 1) {
        plan_batches(state);
        std::vector<double> dropped;
        // one batch to warm up; a call this long has nothing to warm up that its check did not
        if (state.estimate < 0.05)
          if (auto fault = round(timed[i], round_seconds / 2, dropped, warming_batches)) return fault;
        plan_batches(state);
        calls_per_sample = std::max(calls_per_sample, static_cast<double>(state.calls));
      }
      if (auto fault = round(timed[i], round_seconds, shape.samples, short_batches)) return fault;
      state.elapsed += monotonic_seconds() - begin;
      summarize(shape);
      const bool few = state.calls > 1 && problem_.threads == 1 && rounds < short_rounds;
      if (const auto end = sampling_end(shape.samples, state.elapsed, options_.sampling); end && !few) {
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
    if (auto fault = evenness(timed[i])) return fault;
    if (auto fault = one_by_one(timed[i], measurement.shapes[i].median)) return fault;
    if (shapes_[timed[i]].alone) {
      // What it can only do where it sees the next calls is not the time of a call.
      ShapeMeasurement& shape = measurement.shapes[i];
      ShapeState& state = shapes_[timed[i]];
      plan_batches(state);
      shape.samples.clear();
      for (const double begin = monotonic_seconds();
           shape.samples.empty() ||
           !sampling_end(shape.samples, monotonic_seconds() - begin, options_.sampling);)
        if (auto fault = round(timed[i], round_seconds, shape.samples, short_batches)) return fault;
      summarize(shape);
      combine_shapes(measurement, combine);
    }
    if (const auto why = floor_.below(shapes_[timed[i]].plan, measurement.shapes[i].median))
      return Fault{Verdict::cheated, *why + " (shape " + measurement.shapes[i].shape + ")"};
  }
  if (auto fault = runner_->worker().census()) return fault;
  features.set("calls_per_sample", calls_per_sample);
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

std::optional<Fault> time_unverified(Runner& runner, InputSets& inputs, const ShapePlan& plan,
                                     double overhead, CacheMode cache, double call_seconds, double& estimate,
                                     double& seconds) {
  Slots& slots = runner.slots();
  const FreshInputs& fresh = inputs.fresh(plan);
  const Contents& contents = inputs.others(plan);
  const bool first = estimate <= 0;
  const std::size_t calls = first ? 1 : batch_calls(slots, estimate, cache, runner.threads(), fresh);
  const std::size_t batches = first ? 1
                                    : whole(pair_seconds / (estimate * static_cast<double>(calls)),
                                            filled_batches(fresh, calls, most_batches));
  std::vector<double> samples;
  const PinnedThread here(runner.core());
  for (std::size_t batch = 0; batch < batches; ++batch) {
    fill_batch(slots, calls, calls, contents, fresh, cache);
    double charged = 0;
    if (auto fault = runner.run_ordered(calls, call_seconds * static_cast<double>(calls), charged))
      return fault;
    samples.push_back(per_call(charged, overhead, calls));
  }
  seconds = estimate = median(samples);
  return std::nullopt;
}

}  // namespace kernelsearch::detail
