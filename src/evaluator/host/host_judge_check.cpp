// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstring>
#include <numeric>

#include "evaluator/host/batches.hpp"
#include "evaluator/host/host_judge.hpp"
#include "process/pinned_thread.hpp"

// What a candidate computed, compared with what is right: before it is timed, and of timed calls.
namespace kernelsearch::detail {
namespace {

// What a few calls seem to take is no less than this part of what the clock takes, divided by their number:
// below that it is scatter, of which batches of thousands of calls would be made.
constexpr double least_seen = 0.25;
// Memory for one shape's calls that are kept, to be compared if the candidate may win.
constexpr std::size_t reserve_bytes = std::size_t{64} << 20;
// Timed calls of a shape before a candidate may win, where they take no longer than sampling may: a kernel
// that is right for its first thirty calls would otherwise be judged by these alone.
constexpr std::size_t least_calls = 64;
// Calls in which a candidate and the default configuration differ: both may be right within twice the
// tolerance. An expensive reference decides this many for each candidate, and the rest for those that may
// win.
constexpr std::size_t most_doubtful = 3;
// What comparing calls may take once the run is asked to stop.
constexpr double stopped_seconds = 0.5;

std::uint64_t hash_of(const std::vector<std::vector<std::byte>>& outputs) {
  std::uint64_t hash = 0;
  for (const auto& output : outputs)
    hash = hash * 0x9e3779b97f4a7c15u + hash_bytes(output.data(), output.size());
  return hash;
}

}  // namespace

void HostJudge::solve(ShapeState& state, InputSet& set) {
  inputs_.solve(state.plan, set);
  state.unwritten.resize(set.expected.size());
  for (std::size_t a = 0; a < set.expected.size(); ++a) {
    const auto& unwritten = set.expected[a].unwritten;
    state.unwritten[a] = std::max(
        state.unwritten[a], static_cast<std::size_t>(std::count(unwritten.begin(), unwritten.end(), true)));
  }
}

std::optional<Fault> HostJudge::try_shape(std::size_t shape) {
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

std::optional<Fault> HostJudge::check(Features& features, Extent extent) {
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
  metrics_.set(features);
  features.set("nondeterministic",
               outputs == 0 ? 0.0 : static_cast<double>(differing) / static_cast<double>(outputs));
  return std::nullopt;
}

std::optional<Fault> HostJudge::check_shape(std::size_t shape, std::size_t& differing,
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
    if ((fault = unwritten_metric(count))) return fault;
    for (std::size_t i = 0; i < count; ++i) {
      solve(state, *sets[begin + i]);
      if ((fault = inputs_.compare(state.plan, *sets[begin + i], got[i]))) return fault;
    }
    for (const auto& outputs : got) state.results.insert(hash_of(outputs));
    if (begin == 0) {
      first = got.front();
      metrics_.take(shape, first);
    }
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

std::optional<Fault> HostJudge::unwritten_metric(std::size_t count) const {
  for (const std::size_t a : metrics_.arguments())
    for (std::size_t i = 0; i < count; ++i)
      if (is_unchecked(problem_.arguments[a]) && runner_->slots().is_poison(i, a, 0))
        return Fault{Verdict::wrong_result, "it left its metric " + problem_.arguments[a].name +
                                                " unwritten (shape " + problem_.shapes[*selected_].name +
                                                ")"};
  return std::nullopt;
}

std::optional<Fault> HostJudge::verify(std::size_t shape, Kept& call, Price price, bool& decided) {
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

void HostJudge::recycle(Kept call) {
  if (spare_.size() >= 2 * most_batches) return;
  spare_.push_back(std::move(call.set.contents));
  spare_.push_back(std::move(call.outputs));
}

void HostJudge::put_by(ShapeState& state, Kept call) {
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

std::optional<Fault> HostJudge::verify_some(std::size_t shape, std::vector<Kept> kept, double seconds) {
  ShapeState& state = shapes_[shape];
  // A kernel that leaves something out is fast in the calls in which it does.
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

std::optional<Fault> HostJudge::call_on(std::size_t shape, const std::stop_token& stop) {
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

std::optional<Fault> HostJudge::assure(std::size_t calls, const std::stop_token& stop) {
  if (subject_.is_reference) return std::nullopt;
  for (std::size_t s = 0; s < shapes_.size(); ++s)
    if (problem_.shapes[s].weight > 0)
      if (auto fault = assure(s, calls, stop)) return fault;
  return std::nullopt;
}

std::optional<Fault> HostJudge::assure(std::size_t shape, std::size_t calls, const std::stop_token& stop) {
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

bool HostJudge::is_assured() const {
  return std::all_of(shapes_.begin(), shapes_.end(), [&](const ShapeState& state) {
    return problem_.shapes[state.plan.shape].weight <= 0 || state.verified >= least_verified;
  });
}

}  // namespace kernelsearch::detail
