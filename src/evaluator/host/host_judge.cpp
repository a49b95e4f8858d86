// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/host_judge.hpp"

#include <algorithm>
#include <cstring>

#include "evaluator/host/batches.hpp"
#include "judge/overrun_text.hpp"

namespace kernelsearch::detail {
namespace {

// Slots of a batch that were not called and are looked at.
constexpr std::size_t looked_at = 4;
// Buffers are laid out for a kernel that is that much faster than the fastest before: laying out, sharing and
// clearing all 4096 slots of a small problem took half of the time of a check.
constexpr double much_faster = 4;

}  // namespace

HostJudge::HostJudge(const Problem& problem, const HostOptions& options, const WorkerSettings& settings,
                     InputSets& inputs, Verifier& verifier, ClockOverhead& clock, TimeFloor& floor,
                     const Candidate& candidate, const HostSubject& subject, std::span<const double> fastest)
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

void HostJudge::select(std::size_t shape) {
  if (selected_ == shape) return;
  runner_->select(shapes_[shape].plan, options_.buffer_memory, 2, shapes_[shape].slots);
  selected_ = shape;
}

Contents HostJudge::spare() {
  if (spare_.empty()) return {};
  Contents memory = std::move(spare_.back());
  spare_.pop_back();
  return memory;
}

std::optional<Fault> HostJudge::guards(std::size_t first, std::size_t count) const {
  const Slots& slots = runner_->slots();
  for (std::size_t slot = first; slot < first + count; ++slot)
    if (!slots.guards_intact(slot)) {
      Fault fault = overrun_fault(overrun_in(problem_, slots, slot));
      fault.reason += " (shape " + problem_.shapes[slots.plan().shape].name + ")";
      return fault;
    }
  return std::nullopt;
}

std::optional<Fault> HostJudge::run(std::size_t calls, std::size_t first, double limit_seconds,
                                    double& seconds) {
  if (auto fault = runner_->run(calls, first, limit_seconds, seconds)) return explained(std::move(*fault));
  seconds = per_call(seconds, overhead_, calls);
  return std::nullopt;
}

std::optional<Fault> HostJudge::run_drawn(const ShapeState& state, double limit_seconds, double& seconds) {
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

Fault HostJudge::explained(Fault fault) {
  fault = runner_->explained(std::move(fault), problem_);
  fault.reason += " (shape " + problem_.shapes[runner_->slots().plan().shape].name + ")";
  return fault;
}

void HostJudge::plan_batches(ShapeState& state, double about) {
  const Batch batch = state.alone ? Batch{}
                                  : batch_of(runner_->slots(), about, options_.cache, problem_.threads,
                                             inputs_.fresh(state.plan));
  state.calls = batch.calls;
  state.filled = batch.filled;
  if (state.calls > 1) state.loop = clock_.of_call(state.plan.arguments.size());
}

bool HostJudge::cramped() const {
  return std::any_of(shapes_.begin(), shapes_.end(), [this](const ShapeState& state) {
    if (state.slots == most_slots || state.alone || state.elapsed <= 0) return false;
    const Slots slots(state.plan, subject_.storage, options_.buffer_memory, 2, most_slots);
    return whole(wanted_slots(slots, state.estimate, options_.cache, problem_.threads), slots.count()) >
           state.slots;
  });
}

Fault HostJudge::wrote_others() const {
  return {Verdict::cheated,
          "a call wrote to the buffers of other calls (shape " + problem_.shapes[*selected_].name + ")"};
}

std::optional<Fault> HostJudge::inspect() {
  const ShapeState& state = shapes_[*selected_];
  const auto& arguments = state.plan.arguments;
  const Slots& slots = runner_->slots();
  if (auto fault = guards(0, state.filled)) return fault;
  const std::span called = std::span(drawn_).first(state.calls),
                  others = std::span(drawn_).subspan(state.calls);
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const PlannedArgument& argument = arguments[a];
    if (argument.role != Role::out || !argument.is_array || state.unwritten[a] != 0) continue;
    // The reference may do as it likes, but is looked at like any other. What is read here is in the caches
    // when the next batch is filled: a candidate was 4 % slower than its own text as a reference, of which
    // less was read.
    bool wrote = false;
    for (std::size_t i = 0; i < looked_at && !others.empty(); ++i)
      wrote |= !slots.is_all_poison(others[rng_.below(others.size())], a);
    if (wrote && !subject_.is_reference) return wrote_others();
    const std::size_t allowed =
        size_in_bytes(argument.type) == 4 ? poison_by_chance(argument.type, argument.count) : 0;
    for (const std::uint32_t slot : called) {
      if (slots.poison_left(slot, a) <= allowed || subject_.is_reference) continue;
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

}  // namespace kernelsearch::detail
