// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <numeric>

#include "evaluator/gpu/device_judge.hpp"
#include "evaluator/gpu/device_judge_parts.hpp"
#include "judge/overrun_text.hpp"
#include "kernelsearch/core/error.hpp"

namespace kernelsearch::detail::gpu {
namespace {

std::uint64_t combined(std::uint64_t hashes, std::uint64_t hash) {
  return hashes * 0x9e3779b97f4a7c15u + hash;
}

/// What an output holds before a call: patterns that are not numbers, and in turn with them numbers that no
/// honest result is likely to be, since a kernel may take either for "nothing yet".
std::uint64_t stale_word(ElementType type, std::uint64_t seed) {
  const std::uint64_t random = Rng(seed)();
  if (!is_floating(type) || size_in_bytes(type) == 1 || seed % 2 == 0)
    return poison_word(type, Storage::native, seed);
  if (type == ElementType::f64) return 0x7e00000000000000u | (random & 0xffffffffffffu);
  if (type == ElementType::f32) return (0x7e000000u | (random & 0xffffffu)) * 0x100000001u;
  return (type == ElementType::f16 ? 0x7800u | (random & 0x3ffu) : 0x7e00u | (random & 0xffu)) *
         0x1000100010001u;
}

}  // namespace

std::optional<Fault> DeviceJudge::hold_made(std::size_t shape, std::uint64_t seed, InputFlavour flavour) {
  if (!made_.any()) return std::nullopt;
  const auto key = std::make_tuple(shape, seed, flavour);
  if (now_.held_made.contains(key)) return std::nullopt;
  const auto contents = made_.of(shape, seed, flavour);
  std::vector<AllocateBuffers::Buffer> buffers;
  std::vector<BufferId>& ids = now_.held_made[key];
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    ids.push_back(buffer_ids_.next());
    if (made_.made(a)) buffers.push_back({ids.back(), (*contents)[a].size()});
  }
  if (const auto error = now_.worker->allocate(std::move(buffers)))
    raise<DeviceError>("no memory for the inputs of shape " + problem_.shapes[shape].name, error->text,
                       "use smaller shapes");
  now_.held_made_bytes += made_.bytes(shape);
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a)
    if (made_.made(a))
      if (const auto error = upload(*now_.worker, shared_, ids[a], (*contents)[a])) {
        now_.worker->stop();
        return fault_of(*error);
      }
  return std::nullopt;
}

void DeviceJudge::forget_made() {
  std::vector<BufferId> buffers;
  for (const auto& [key, ids] : now_.held_made)
    for (std::size_t a = 0; a < ids.size(); ++a)
      if (made_.made(a)) buffers.push_back(ids[a]);
  now_.held_made.clear();
  now_.timed_made.clear();
  now_.held_made_bytes = 0;
  if (!buffers.empty() && now_.worker && now_.worker->alive() && now_.worker->release(std::move(buffers)))
    now_.worker->stop();
}

std::optional<Fault> DeviceJudge::hold_new(std::size_t shape, std::size_t count,
                                           std::vector<std::uint64_t>& seeds) {
  // What making and copying may take for a batch, and what is held of the device's memory.
  constexpr double making_seconds = 0.05;
  forget_timed();
  const std::uint64_t room = memory_ / 16 / std::max<std::uint64_t>(1, made_.bytes(shape));
  double spent = 0;
  do {
    const double begin = monotonic_seconds();
    const std::uint64_t seed = secret_seed();
    if (auto fault = hold_made(shape, seed, InputFlavour::declared)) return fault;
    now_.timed_made.emplace_back(shape, seed, InputFlavour::declared);
    seeds.push_back(seed);
    spent += monotonic_seconds() - begin;
  } while (seeds.size() < count && seeds.size() < room &&
           spent + spent / static_cast<double>(seeds.size()) < making_seconds);
  return std::nullopt;
}

void DeviceJudge::forget_timed() {
  std::vector<BufferId> buffers;
  for (const auto& key : now_.timed_made) {
    const auto held = now_.held_made.find(key);
    if (held == now_.held_made.end()) continue;
    for (std::size_t a = 0; a < held->second.size(); ++a)
      if (made_.made(a)) buffers.push_back(held->second[a]);
    now_.held_made_bytes -= std::min(now_.held_made_bytes, made_.bytes(std::get<0>(key)));
    now_.held_made.erase(held);
  }
  now_.timed_made.clear();
  if (!buffers.empty() && now_.worker && now_.worker->alive() && now_.worker->release(std::move(buffers)))
    now_.worker->stop();
}

void DeviceJudge::fill(std::vector<Action>& actions, const Subject& subject, std::size_t slot,
                       const InputSet& set, std::uint64_t poison) {
  const ShapeState& state = subject.shapes[set.shape];
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a)
    if (const auto workspace = state.workspaces[a])
      actions.emplace_back(FillPattern{*workspace, stale_word(problem_.arguments[a].type, poison),
                                       bytes_of(state.plan.arguments.arguments[a])});
  fill_arrays(actions, slot, set, poison);
}

void DeviceJudge::fill_arrays(std::vector<Action>& actions, std::size_t slot, const InputSet& set,
                              std::uint64_t poison) {
  const std::size_t shape = set.shape;
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    const PlannedArgument& planned = plans_[shape].arguments[a];
    if (!planned.is_array || planned.role == Role::workspace) continue;
    const BufferId buffer = slot_buffer(shape, slot, a);
    if (!planned.is_input())
      fill_output(actions, shape, slot, a, poison);
    else if (made_.made(a))
      actions.emplace_back(RotateArray{now_.held_made.at({shape, set.made_seed, set.flavour})[a], buffer, 0,
                                       bytes_of(planned)});
    else
      actions.emplace_back(fill_action(at_shape_[shape][a], planned, buffer, set.seed, set.flavour, false));
    if (planned.role == Role::in) actions.emplace_back(HashArray{buffer, bytes_of(planned)});
  }
}

bool DeviceJudge::shares(const Subject& subject, std::size_t shape) {
  return !waiting_.empty() && !subject.finalist && !made_.any() && !referee_.is_dear(shape);
}

void DeviceJudge::fill_output(std::vector<Action>& actions, std::size_t shape, std::size_t slot,
                              std::size_t argument, std::uint64_t poison) const {
  const PlannedArgument& planned = plans_[shape].arguments[argument];
  actions.emplace_back(
      FillPattern{slot_buffer(shape, slot, argument), stale_word(planned.type, poison), bytes_of(planned)});
}

void DeviceJudge::call(std::vector<Action>& actions, const Subject& subject, std::size_t shape,
                       std::size_t slot, bool timed) const {
  CallProgram call{program_of(subject.module, shape), timed, {}};
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a)
    call.bindings.emplace_back(buffer_of(subject, shape, slot, a));
  actions.emplace_back(std::move(call));
}

void DeviceJudge::prepare(std::vector<Action>& actions, std::size_t shape, std::size_t slot) const {
  if (options_.cache == CacheMode::cold) {
    actions.emplace_back(FlushCache{launches_});
    return;
  }
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a)
    if (const PlannedArgument& planned = plans_[shape].arguments[a]; planned.is_input())
      actions.emplace_back(TouchArray{slot_buffer(shape, slot, a), bytes_of(planned)});
}

BufferId DeviceJudge::buffer_of(const Subject& subject, std::size_t shape, std::size_t slot,
                                std::size_t argument) const {
  const auto workspace = subject.shapes[shape].workspaces[argument];
  return workspace ? *workspace : slot_buffer(shape, slot, argument);
}

Overrun DeviceJudge::overrun_of(const Subject& subject, std::size_t shape, std::size_t slot,
                                std::size_t argument) {
  const BufferId buffer = buffer_of(subject, shape, slot, argument);
  Act::Reply done;
  if (send({FindOverrun{buffer, now_.guard_seed + number(buffer)}}, 60, done) || done.values.size() != 2 ||
      done.values[0] == 0)
    return {problem_.arguments[argument].name};
  const PlannedArgument& planned = plans_[shape].arguments[argument];
  const std::size_t element = stored_bytes(planned, Storage::native);
  const auto distance = static_cast<std::size_t>(done.values[1]);
  return named(problem_, plans_[shape],
               Slots::Place{argument, done.values[0] == 1 ? index_before(element, distance)
                                                          : index_behind(planned.count, element, distance)});
}

void DeviceJudge::inspect(std::vector<Action>& actions, const Subject& subject, std::size_t shape,
                          std::size_t slot, std::uint64_t poison) const {
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    const PlannedArgument& planned = plans_[shape].arguments[a];
    const auto workspace = subject.shapes[shape].workspaces[a];
    if (!planned.is_array || (planned.role == Role::workspace && !workspace)) continue;
    const BufferId buffer = buffer_of(subject, shape, slot, a);
    actions.emplace_back(CheckGuard{buffer, now_.guard_seed + number(buffer)});
    if (workspace) continue;
    actions.emplace_back(HashArray{buffer, bytes_of(planned)});
    const std::size_t size = size_in_bytes(planned.type);
    if (planned.role != Role::out || size < 2) continue;
    std::uint64_t word = stale_word(planned.type, poison);
    if (size == 2) word &= 0xffffu;
    actions.emplace_back(CountPattern{buffer, static_cast<std::uint32_t>(size), word, planned.count});
  }
}

std::optional<Fault> DeviceJudge::judged(const Subject& subject, const std::vector<std::uint64_t>& values,
                                         std::size_t& at, std::size_t shape, std::size_t slot,
                                         std::uint64_t& result) {
  const auto next = [&] { return at < values.size() ? values[at++] : 0; };
  std::vector<std::uint64_t> before(inputs(shape));
  for (std::uint64_t& hash : before) hash = next();
  const std::string in_shape = " (shape " + problem_.shapes[shape].name + ")";
  std::optional<Fault> fault;
  std::size_t input = 0;
  result = 0;
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    const PlannedArgument& planned = plans_[shape].arguments[a];
    if (!planned.is_array) continue;
    const std::string& name = problem_.arguments[a].name;
    const std::uint64_t changed = next(), hash = planned.role == Role::workspace ? 0 : next();
    if (changed != 0 && !fault) {
      fault = overrun_fault(overrun_of(subject, shape, slot, a));
      fault->reason += in_shape;
    }
    if (planned.role == Role::in && hash != before.at(input++) && !fault)
      fault = Fault{Verdict::cheated, "it changed its input " + name + in_shape};
    if (is_told_by_hash(a, planned)) result = combined(result, hash);
    if (planned.role != Role::out || size_in_bytes(planned.type) < 2) continue;
    const std::uint64_t left = next();
    const std::uint64_t allowed = poison_by_chance(planned.type, planned.count);
    if (left > allowed && !fault)
      fault = Fault{Verdict::wrong_result,
                    "it left " + std::to_string(left) + " elements of " + name + " unwritten" + in_shape,
                    1.0 - static_cast<double>(left) / static_cast<double>(planned.count)};
  }
  return fault;
}

bool DeviceJudge::is_told_by_hash(std::size_t argument, const PlannedArgument& planned) const {
  return planned.is_output() && !is_unchecked(problem_.arguments[argument]);
}

std::size_t DeviceJudge::inputs(std::size_t shape) const {
  return static_cast<std::size_t>(
      std::count_if(plans_[shape].arguments.begin(), plans_[shape].arguments.end(),
                    [](const PlannedArgument& a) { return a.is_array && a.role == Role::in; }));
}

std::optional<Fault> DeviceJudge::make_room(std::size_t shape, std::size_t count, std::size_t& first) {
  if (held_[shape] + count > slots(shape))
    if (auto fault = verify_pending()) return fault;
  first = held_[shape];
  return reserve(shape, first + count);
}

std::optional<Fault> DeviceJudge::collect(const std::vector<Called>& calls, std::size_t begin,
                                          std::vector<Referee::OutputSample>& samples) {
  std::vector<Action> actions;
  std::uint64_t offset = 0;
  for (std::size_t c = begin; c < calls.size(); ++c) {
    const Called& call = calls[c];
    const std::size_t shape = call.set->shape;
    Referee::OutputSample sample{call.set, std::vector<Referee::Place>(problem_.arguments.size())};
    // Where devices share memory between processes the referee looks at the outputs in place; it can see
    // what is the candidate's, and not the other way round. The others go through shared memory, and so do
    // those of launch functions, which could go on writing.
    std::uint64_t needed = 0;
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const PlannedArgument& planned = plans_[shape].arguments[a];
      if (!planned.is_output()) continue;
      if (!launches_)
        sample.places[a].lent =
            referee_.lend(*now_.worker, slot_buffer(shape, call.slot, a), bytes_of(planned));
      if (!sample.places[a].lent) needed += (bytes_of(planned) + 511) / 512 * 512;
    }
    if (!samples.empty() && offset + needed > shared_.size()) break;
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const PlannedArgument& planned = plans_[shape].arguments[a];
      if (!planned.is_output()) continue;
      const BufferId buffer = slot_buffer(shape, call.slot, a);
      actions.emplace_back(HashArray{buffer, bytes_of(planned)});
      if (sample.places[a].lent) continue;
      sample.places[a].offset = offset;
      actions.emplace_back(CopyOut{buffer, offset, bytes_of(planned)});
      offset += (bytes_of(planned) + 511) / 512 * 512;
    }
    samples.push_back(std::move(sample));
  }
  Act::Reply done;
  if (auto fault = send(std::move(actions), 60, done)) return fault;
  std::size_t at = 0;
  for (std::size_t c = 0; c < samples.size(); ++c) {
    const Called& call = calls[begin + c];
    std::uint64_t result = 0;
    const std::vector<PlannedArgument>& arguments = plans_[call.set->shape].arguments;
    for (std::size_t a = 0; a < arguments.size(); ++a) {
      if (!arguments[a].is_output() || at >= done.values.size()) continue;
      const std::uint64_t hash = done.values[at++];
      if (is_told_by_hash(a, arguments[a])) result = combined(result, hash);
    }
    if (result != call.result)
      return Fault{Verdict::cheated, "a call changed the outputs of an earlier one (shape " +
                                         problem_.shapes[call.set->shape].name + ")"};
  }
  referee_.receive(samples);
  return std::nullopt;
}

std::optional<Fault> DeviceJudge::verify_pending() {
  struct Timed {  // what the referee takes, also where it finds a fault
    double& total;
    double begin = monotonic_seconds();
    ~Timed() { total += monotonic_seconds() - begin; }
  } const timed_here{referee_seconds_};
  const std::vector<Called> calls = std::exchange(pending_, {});
  held_.assign(plans_.size(), 0);
  for (std::size_t begin = 0; begin < calls.size();) {
    std::vector<Referee::OutputSample> samples;
    if (auto fault = collect(calls, begin, samples)) return fault;
    if (auto fault = settle(calls, begin, samples)) return fault;
    begin += samples.size();
  }
  return std::nullopt;
}

std::optional<Fault> DeviceJudge::settle(const std::vector<Called>& calls, std::size_t begin,
                                         const std::vector<Referee::OutputSample>& samples) {
  auto mismatch = referee_.judge(samples);
  if (!mismatch) {
    for (std::size_t c = 0; c < samples.size(); ++c) {
      const Called& call = calls[begin + c];
      verified_ += call.timed ? 1 : 0;
      if (!call.says) continue;
      for (const std::size_t a : metrics_.arguments())
        metrics_.take(call.set->shape, a, referee_.number(samples, c, a));
    }
    return std::nullopt;
  }
  const Called& call = calls[begin + mismatch->sample];
  Fault& fault = mismatch->fault;
  if (call.timed && call.repeats) {
    fault.verdict = Verdict::cheated;
    fault.reason = "a timed call gave the result of an earlier call: " + fault.reason;
  } else if (call.timed) {
    fault.reason = "in a timed call, " + fault.reason;
  }
  return std::move(fault);
}

std::optional<Fault> DeviceJudge::check(Subject& subject, Features& features,
                                        std::optional<double> incumbent) {
  metrics_.clear();
  std::vector<std::size_t> order(plans_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Small ones first: what is wrong is mostly wrong everywhere.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return slot_bytes(plans_[a]) < slot_bytes(plans_[b]);
  });
  // The referee's work first, then the candidate's: see verify_pending. For what may be slower beyond doubt
  // one set, which is then enough.
  const bool may_be_slow = incumbent && only_timed_shape();
  std::vector<Referee::Wanted> wanted;
  for (const std::size_t shape : order)
    if (subject.shapes[shape].valid)
      wanted.push_back({shape, 0, may_be_slow && timed(shape) ? 1 : referee_.sets_of_check(shape)});
  auto sets = referee_.for_check(wanted, subject.finalist);
  std::size_t differing = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (auto fault = check_shape(subject, wanted[i].shape, std::move(sets[i]), incumbent, differing))
      return fault;
  features.set("nondeterministic", differing == 0 ? 0.0 : 1.0);
  return std::nullopt;
}

std::optional<Fault> DeviceJudge::check_shape(Subject& subject, std::size_t shape,
                                              std::vector<InputSetPointer> sets,
                                              std::optional<double> incumbent, std::size_t& differing) {
  ShapeState& state = subject.shapes[shape];
  const bool may_be_slow = incumbent && timed(shape) && only_timed_shape();
  // The first set once more at the end, at another address: two runs must agree. This is the one case in
  // which a process is shown contents twice; nothing is timed or found right by it.
  if (!may_be_slow) sets.push_back(sets.front());
  std::size_t room = may_be_slow ? 1 : slots(shape);  // then the first call alone
  std::uint64_t first_result = 0;
  const std::uint64_t poison = rng_();
  for (std::size_t begin = 0, count = 0; begin < sets.size(); begin += count) {
    count = std::min(room, sets.size() - begin);
    std::size_t first = 0;
    if (auto fault = make_room(shape, count, first)) return fault;
    for (std::size_t i = 0; i < count; ++i)
      if (auto fault = hold_made(shape, sets[begin + i]->seed, sets[begin + i]->flavour)) return fault;
    std::vector<Action> actions;
    for (std::size_t i = 0; i < count; ++i) {
      fill(actions, subject, first + i, *sets[begin + i], poison + begin + i);
      call(actions, subject, shape, first + i, true);
      inspect(actions, subject, shape, first + i, poison + begin + i);
    }
    Act::Reply done;
    // Where kernels run on the host, their driver may compile them for good when they first run.
    const double compiling = device_.on_host ? 10.0 : 0.0;
    if (auto fault =
            send(std::move(actions), options_.limits.call * static_cast<double>(count) + compiling, done)) {
      fault->reason += " (shape " + problem_.shapes[shape].name + ")";
      return fault;
    }
    const double fastest = *std::min_element(done.seconds.begin(), done.seconds.end());
    state.estimate = begin == 0 ? fastest : std::min(state.estimate, fastest);
    std::size_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t result = 0;
      if (auto fault = judged(subject, done.values, at, shape, first + i, result)) return fault;
      state.results.insert(result);
      if (begin + i == 0) first_result = result;
      const bool again = begin + i > 0 && begin + i + 1 == sets.size();
      if (again && result != first_result) ++differing;
      if (!again || result != first_result) {
        pending_.push_back({sets[begin + i], first + i, result});
        pending_.back().says = begin + i == 0;
      }
    }
    held_[shape] = first + count;
    // One right result is enough of a candidate that is slower beyond doubt: it will not be chosen.
    if (may_be_slow && begin == 0 && state.estimate > surely_slower * *incumbent) {
      subject.checked_in_part = true;
      return std::nullopt;
    }
    if (may_be_slow && begin == 0) {
      auto others = referee_.for_check({{shape, 1, referee_.sets_of_check(shape)}}, subject.finalist);
      for (InputSetPointer& set : others.front()) sets.push_back(std::move(set));
      sets.push_back(sets.front());
    }
    room = slots(shape);
  }
  return std::nullopt;
}

bool DeviceJudge::only_timed_shape() const {
  return std::count_if(problem_.shapes.begin(), problem_.shapes.end(),
                       [](const Shape& shape) { return shape.weight > 0; }) == 1;
}

}  // namespace kernelsearch::detail::gpu
