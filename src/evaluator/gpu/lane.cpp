// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/lane.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "evaluator/gpu/device_source.hpp"
#include "evaluator/gpu/service_source.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/evaluate.hpp"

namespace kernelsearch::detail::gpu {
namespace {

constexpr std::size_t most_slots = 64;
constexpr double surely_slower = 1.5;
constexpr std::uint32_t candidate_module = 1, other_module = 2;

std::uint64_t output_bytes(const ShapePlan& plan) {
  std::uint64_t bytes = 0;
  for (const PlannedArgument& argument : plan.arguments)
    if (argument.is_output()) bytes += (bytes_of(argument) + 511) / 512 * 512;
  return bytes;
}

std::uint64_t slot_bytes(const ShapePlan& plan) {
  std::uint64_t bytes = 0;
  for (const PlannedArgument& argument : plan.arguments)
    if (argument.is_array && argument.role != Role::workspace) bytes += bytes_of(argument) + 3 * 4096;
  return bytes;
}

std::vector<ShapePlan> plans_of(const Problem& problem) {
  std::vector<ShapePlan> plans;
  const Candidate first{std::make_shared<const Kernel>(problem.kernel),
                        problem.kernel.space.default_config()};
  for (std::size_t s = 0; s < problem.shapes.size(); ++s) plans.push_back(plan_shape(problem, first, s));
  return plans;
}

std::size_t shared_bytes(const std::vector<ShapePlan>& plans) {
  std::uint64_t most = 4 << 20;  // so that the outputs of several calls on small shapes are copied at once
  for (const ShapePlan& plan : plans) most = std::max(most, output_bytes(plan));
  return static_cast<std::size_t>(most);
}

std::uint32_t program_number(std::uint32_t module, std::size_t shape) {
  return module * 100000 + static_cast<std::uint32_t>(shape);
}

}  // namespace

Lane::Lane(const Problem& problem, const GpuOptions& options, const GpuDevice& device, int ordinal,
           BuilderPool& builders)
    : problem_(problem),
      options_(options),
      device_(device),
      ordinal_(ordinal),
      builders_(builders),
      plans_(plans_of(problem)),
      shared_(shared_bytes(plans_)),
      referee_(problem, options, device, ordinal, builders, shared_) {
  if (device.backend == GpuBackend::cuda) {
    std::string ignored;  // without NVML clocks and temperature are unknown, which is no fault
    nvml_ = Nvml::open(device.bus, ignored);
  }
}

std::uint32_t Lane::slot_buffer(std::size_t shape, std::size_t slot, std::size_t argument) {
  return static_cast<std::uint32_t>(1 + (shape * most_slots + slot) * 64 + argument);
}

Fault Lane::fault_of(const WorkerError& error) {
  if (error.kind == WorkerError::timed_out) return {Verdict::timed_out, error.text};
  if (error.kind == WorkerError::ended) return {Verdict::crashed, "its process ended: " + error.text};
  switch (error.status) {
    case out_of_memory:
      return {Verdict::launch_failed, "not enough device memory: " + error.text};
    case launch_out_of_resources:
    case invalid_value:
    case unsupported:
    case not_found:
    case invalid_image:
    case no_binary:
      return {Verdict::launch_failed, error.text};
    case launch_timeout:
      return {Verdict::timed_out, error.text};
    default:
      return {is_sticky(error.status) ? Verdict::crashed : Verdict::launch_failed, error.text};
  }
}

std::optional<Fault> Lane::send(const std::vector<Action>& actions,
                                const std::vector<std::uint32_t>& bindings, double seconds,
                                GpuWorker::Done& done) {
  if (const auto error = worker_->act(actions, bindings, seconds, done)) {
    // Even an error that leaves the context alive may leave work behind in it.
    worker_->stop();
    return fault_of(*error);
  }
  for (const double call : done.seconds) busy_.store(busy_.load() + call);
  return std::nullopt;
}

void Lane::start() {
  // What an earlier candidate did to the zones around arrays is not this one's fault.
  if (worker_ && worker_->alive() && (!rewrite_guards_ || !guard_all())) {
    rewrite_guards_ = false;
    return;
  }
  rewrite_guards_ = false;
  referee_.give_back();
  worker_.reset();
  // Kept only once it is ready: one that failed half-way must not serve the next candidate.
  auto starting = std::make_unique<GpuWorker>(find_gpu_worker(options_.worker), device_.backend,
                                              GpuWorker::Role::device, ordinal_, &shared_);
  GpuDevice device;
  if (const auto error = starting->hello(options_.limits.start, device))
    raise<DeviceError>("the device cannot be used", error->text, "see `kernelsearch doctor`");
  memory_ = device.memory_free;
  const Built services = builders_.build(service_source(), compile_options(device_, options_, {}),
                                         {service_names(), service_names() + service_count});
  if (services.verdict != Verdict::ok)
    raise<ConfigError>("the kernels of the evaluator do not build", services.reason,
                       "see `kernelsearch doctor`");
  std::vector<FunctionFacts> facts;
  if (const auto error = starting->load(0, *services.image, services.functions, facts))
    raise<DeviceError>("the kernels of the evaluator do not load", error->text, "see `kernelsearch doctor`");
  reserved_.assign(plans_.size(), 0);
  workspace_bytes_.clear();
  guard_seed_ = secret_seed();
  worker_ = std::move(starting);
}

void Lane::renew() {
  if (worker_) worker_->stop();
  referee_.forget();
}

std::size_t Lane::slots(std::size_t shape) {
  const std::uint64_t memory = options_.buffer_memory != 0 ? options_.buffer_memory : memory_ / 4;
  const std::uint64_t each = std::max<std::uint64_t>(1, slot_bytes(plans_[shape]));
  return static_cast<std::size_t>(
      std::clamp<std::uint64_t>(memory / each, 2, timed(shape) ? most_slots / 2 : 8));
}

std::optional<Fault> Lane::reserve(std::size_t shape, std::size_t count) {
  if (reserved_[shape] >= count) return std::nullopt;
  std::vector<std::uint32_t> numbers;
  std::vector<std::uint64_t> bytes;
  std::vector<Action> guards;
  for (std::size_t slot = reserved_[shape]; slot < count; ++slot) {
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const PlannedArgument& planned = plans_[shape].arguments[a];
      if (!planned.is_array || planned.role == Role::workspace) continue;
      numbers.push_back(slot_buffer(shape, slot, a));
      bytes.push_back(bytes_of(planned));
    }
    guard(guards, shape, slot);
  }
  if (const auto error = worker_->allocate(numbers, bytes))
    raise<DeviceError>("no memory for the buffers of shape " + problem_.shapes[shape].name, error->text,
                       "use smaller shapes or less buffer_memory");
  reserved_[shape] = count;
  GpuWorker::Done done;
  return send(guards, {}, 60, done);
}

void Lane::guard(std::vector<Action>& actions, std::size_t shape, std::size_t slot) const {
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    const PlannedArgument& planned = plans_[shape].arguments[a];
    if (!planned.is_array || planned.role == Role::workspace) continue;
    Action action;
    action.kind = Act::guard;
    action.buffer = slot_buffer(shape, slot, a);
    action.seed = guard_seed_ + action.buffer;
    actions.push_back(action);
  }
}

std::optional<Fault> Lane::guard_all() {
  std::vector<Action> actions;
  for (std::size_t shape = 0; shape < reserved_.size(); ++shape)
    for (std::size_t slot = 0; slot < reserved_[shape]; ++slot) guard(actions, shape, slot);
  GpuWorker::Done done;
  return actions.empty() ? std::nullopt : send(actions, {}, 60, done);
}

std::optional<Fault> Lane::admit(const GpuArtifact& artifact, std::uint32_t module, Subject& subject,
                                 Features& features) {
  subject.module = module;
  subject.shapes.resize(problem_.shapes.size());
  std::vector<FunctionFacts> facts;
  if (const auto error = worker_->load(module, *artifact.image, artifact.functions, facts))
    return fault_of(*error);
  const std::vector<std::string> names = launched_kernels(problem_, artifact.candidate);
  double occupancy = 1, blocks_fit = 1e9, dynamic = 0;
  for (std::size_t s = 0; s < subject.shapes.size(); ++s) {
    ShapeState& state = subject.shapes[s];
    state.valid = is_valid(problem_, problem_.shapes[s], artifact.candidate.config);
    if (!state.valid) continue;
    std::string reason;
    state.plan = plan_call(problem_, artifact.candidate, s, module, names, reason);
    if (!reason.empty()) return Fault{Verdict::rejected, reason};
    std::vector<std::int32_t> blocks;
    if (const auto error = worker_->program(program_number(module, s), state.plan.program, blocks))
      return fault_of(*error);
    std::size_t launch = 0;
    for (const Step& step : state.plan.program.steps) {
      if (step.kind != StepKind::launch) continue;
      const int fit = launch < blocks.size() ? blocks[launch] : 0;
      ++launch;
      const double threads =
          static_cast<double>(step.shape.block[0]) * step.shape.block[1] * step.shape.block[2];
      blocks_fit = std::min(blocks_fit, static_cast<double>(fit));
      dynamic = std::max(dynamic, static_cast<double>(step.shape.shared_bytes));
      if (device_.threads_per_multiprocessor > 0)
        occupancy = std::min(occupancy, fit * threads / device_.threads_per_multiprocessor);
    }
    state.workspaces.assign(problem_.arguments.size(), 0);
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      if (problem_.arguments[a].role != Role::workspace) continue;
      const auto number = static_cast<std::uint32_t>(10000000 + module * 1000000 + s * 64 + a);
      const std::uint64_t bytes = bytes_of(state.plan.arguments.arguments[a]);
      if (workspace_bytes_[number] < bytes || workspace_bytes_[number] > 4 * bytes + (64 << 20)) {
        if (const auto error = worker_->allocate({number}, {bytes})) return fault_of(*error);
        workspace_bytes_[number] = bytes;
      }
      state.workspaces[a] = number;
    }
  }
  FunctionFacts most;
  for (const FunctionFacts& f : facts) {
    most.registers = std::max(most.registers, f.registers);
    most.shared = std::max(most.shared, f.shared);
    most.local = std::max(most.local, f.local);
  }
  features.set("registers", most.registers);
  features.set("shared_bytes", most.shared + dynamic);
  features.set("local_bytes", most.local);
  if (blocks_fit < 1e9) {
    features.set("blocks_per_multiprocessor", blocks_fit);
    features.set("occupancy", occupancy);
  }
  return std::nullopt;
}

void Lane::dismiss(Subject& subject) {
  if (worker_ && worker_->alive()) (void)worker_->unload(subject.module);
}

void Lane::fill(std::vector<Action>& actions, std::size_t shape, std::size_t slot, std::uint64_t seed,
                InputFlavour flavour, std::uint64_t poison) {
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    const PlannedArgument& planned = plans_[shape].arguments[a];
    if (!planned.is_array || planned.role == Role::workspace) continue;
    const std::uint32_t buffer = slot_buffer(shape, slot, a);
    if (planned.is_input()) {
      actions.push_back(fill_action(problem_.arguments[a], planned, buffer, seed, flavour, false));
      if (planned.role != Role::in) continue;
      Action hash;
      hash.kind = Act::hash;
      hash.buffer = buffer;
      hash.count = bytes_of(planned);
      actions.push_back(hash);
    } else {
      Action action;
      action.kind = Act::poison;
      action.buffer = buffer;
      action.word = poison_word(planned.type, Storage::native, poison);
      action.count = bytes_of(planned);
      actions.push_back(action);
    }
  }
}

void Lane::call(std::vector<Action>& actions, std::vector<std::uint32_t>& bindings, const Subject& subject,
                std::size_t shape, std::size_t slot, bool timed) const {
  Action action;
  action.kind = timed ? Act::timed_call : Act::call;
  action.program = program_number(subject.module, shape);
  action.first_binding = static_cast<std::uint32_t>(bindings.size());
  action.bindings = static_cast<std::uint32_t>(problem_.arguments.size());
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    const std::uint32_t workspace = subject.shapes[shape].workspaces[a];
    bindings.push_back(workspace != 0 ? workspace : slot_buffer(shape, slot, a));
  }
  actions.push_back(action);
}

void Lane::prepare(std::vector<Action>& actions, std::size_t shape, std::size_t slot) const {
  if (options_.cache == CacheMode::cold) {
    Action flush;
    flush.kind = Act::flush;
    actions.push_back(flush);
    return;
  }
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    if (!plans_[shape].arguments[a].is_input()) continue;
    Action touch;
    touch.kind = Act::touch;
    touch.buffer = slot_buffer(shape, slot, a);
    touch.count = bytes_of(plans_[shape].arguments[a]);
    actions.push_back(touch);
  }
}

void Lane::inspect(std::vector<Action>& actions, std::size_t shape, std::size_t slot,
                   std::uint64_t poison) const {
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    const PlannedArgument& planned = plans_[shape].arguments[a];
    if (!planned.is_array || planned.role == Role::workspace) continue;
    Action action;
    action.buffer = slot_buffer(shape, slot, a);
    action.kind = Act::guard_check;
    action.seed = guard_seed_ + action.buffer;
    actions.push_back(action);
    action.kind = Act::hash;
    action.count = bytes_of(planned);
    actions.push_back(action);
    if (planned.role != Role::out || size_in_bytes(planned.type) < 2) continue;
    action.kind = Act::poison_left;
    action.type = static_cast<std::uint32_t>(size_in_bytes(planned.type));
    action.word = poison_word(planned.type, Storage::native, poison);
    if (action.type == 2) action.word &= 0xffffu;
    action.count = planned.count;
    actions.push_back(action);
  }
}

std::optional<Fault> Lane::judged(const std::vector<std::uint64_t>& values, std::size_t& at,
                                  std::size_t shape, const std::vector<std::uint64_t>& before,
                                  std::uint64_t& result) const {
  const auto next = [&] { return at < values.size() ? values[at++] : 0; };
  const std::string in_shape = " (shape " + problem_.shapes[shape].name + ")";
  std::optional<Fault> fault;
  std::size_t input = 0;
  result = 0;
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    const PlannedArgument& planned = plans_[shape].arguments[a];
    if (!planned.is_array || planned.role == Role::workspace) continue;
    const std::string& name = problem_.arguments[a].name;
    const std::uint64_t changed = next(), hash = next();
    if (changed != 0 && !fault)
      fault = Fault{Verdict::cheated, "it wrote outside of its array " + name + in_shape};
    if (planned.role == Role::in && hash != before.at(input++) && !fault)
      fault = Fault{Verdict::cheated, "it changed its input " + name + in_shape};
    if (planned.is_output()) result = result * 0x9e3779b97f4a7c15u + hash;
    if (planned.role != Role::out || size_in_bytes(planned.type) < 2) continue;
    const std::uint64_t left = next();
    // A type of two bytes has so few patterns that one of an honest result may look like the poison.
    const std::uint64_t allowed = size_in_bytes(planned.type) == 2 ? planned.count / 1024 : 0;
    if (left > allowed && !fault)
      fault = Fault{Verdict::wrong_result,
                    "it left " + std::to_string(left) + " elements of " + name + " unwritten" + in_shape,
                    1.0 - static_cast<double>(left) / static_cast<double>(planned.count)};
  }
  return fault;
}

std::optional<Fault> Lane::verify(std::size_t shape, const std::vector<Called>& calls) {
  std::vector<Action> actions;
  std::vector<Referee::Claim> claims;
  std::uint64_t offset = 0;
  const auto ask = [&]() -> std::optional<Fault> {
    if (!actions.empty()) {
      GpuWorker::Done done;
      if (auto fault = send(actions, {}, 60, done)) return fault;
    }
    auto fault = referee_.compare(claims);
    actions.clear();
    claims.clear();
    offset = 0;
    return fault;
  };
  for (const Called& call : calls) {
    if (!claims.empty() && offset + output_bytes(plans_[shape]) > shared_.size())
      if (auto fault = ask()) return fault;
    Referee::Claim claim{call.set, std::vector<Referee::Place>(problem_.arguments.size())};
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const PlannedArgument& planned = plans_[shape].arguments[a];
      if (!planned.is_output()) continue;
      // Where devices share memory between processes the referee looks at the outputs in place; it can see what is
      // the candidate's, and not the other way round.
      const std::uint32_t buffer = slot_buffer(shape, call.slot, a);
      claim.places[a].lent = referee_.lend(*worker_, buffer, bytes_of(planned));
      if (claim.places[a].lent != 0) continue;
      Action out;
      out.kind = Act::out;
      out.buffer = buffer;
      out.word = claim.places[a].offset = offset;
      out.count = bytes_of(planned);
      actions.push_back(out);
      offset += (out.count + 511) / 512 * 512;
    }
    claims.push_back(std::move(claim));
  }
  return claims.empty() ? std::nullopt : ask();
}

std::optional<Fault> Lane::check(Subject& subject, Features& features, std::optional<double> incumbent) {
  std::vector<std::size_t> order(plans_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Small ones first: what is wrong is mostly wrong everywhere.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return slot_bytes(plans_[a]) < slot_bytes(plans_[b]);
  });
  std::size_t differing = 0;
  for (const std::size_t shape : order)
    if (subject.shapes[shape].valid)
      if (auto fault = check_shape(subject, shape, incumbent, differing)) return fault;
  features.set("nondeterministic", differing == 0 ? 0.0 : 1.0);
  return std::nullopt;
}

std::optional<Fault> Lane::check_shape(Subject& subject, std::size_t shape, std::optional<double> incumbent,
                                       std::size_t& differing) {
  ShapeState& state = subject.shapes[shape];
  auto sets = referee_.for_check(shape);
  sets.push_back(sets.front());  // once more, at another address: two runs must agree
  const bool may_be_slow = incumbent && timed(shape) && only_timed_shape();
  std::size_t room = may_be_slow ? 1 : slots(shape);  // then the first call alone
  if (auto fault = reserve(shape, std::min(room, sets.size()))) return fault;
  std::uint64_t first = 0;
  for (std::size_t begin = 0, count = 0; begin < sets.size(); begin += count) {
    count = std::min(room, sets.size() - begin);
    std::vector<Action> actions;
    std::vector<std::uint32_t> bindings;
    const std::uint64_t poison = rng_();
    for (std::size_t i = 0; i < count; ++i)
      fill(actions, shape, i, sets[begin + i]->seed, sets[begin + i]->flavour, poison);
    for (std::size_t i = 0; i < count; ++i) call(actions, bindings, subject, shape, i, true);
    for (std::size_t i = 0; i < count; ++i) inspect(actions, shape, i, poison);
    GpuWorker::Done done;
    if (auto fault = send(actions, bindings, options_.limits.call * static_cast<double>(count), done)) {
      fault->reason += " (shape " + problem_.shapes[shape].name + ")";
      return fault;
    }
    const double fastest = *std::min_element(done.seconds.begin(), done.seconds.end());
    state.estimate = begin == 0 ? fastest : std::min(state.estimate, fastest);
    // Hashes of inputs come first, slot by slot, then what was inspected.
    const auto inputs = static_cast<std::size_t>(
        std::count_if(plans_[shape].arguments.begin(), plans_[shape].arguments.end(),
                      [](const PlannedArgument& a) { return a.is_array && a.role == Role::in; }));
    std::size_t at = inputs * count;
    std::vector<Called> calls;
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<std::uint64_t> before(
          done.values.begin() + static_cast<std::ptrdiff_t>(inputs * i),
          done.values.begin() + static_cast<std::ptrdiff_t>(inputs * (i + 1)));
      std::uint64_t result = 0;
      if (auto fault = judged(done.values, at, shape, before, result)) return fault;
      state.results.insert(result);
      if (begin + i == 0) first = result;
      if (begin + i + 1 == sets.size() && result != first) ++differing;
      const bool repeated = begin + i + 1 == sets.size() && result == first;
      if (!repeated) calls.push_back({sets[begin + i], i});
    }
    if (auto fault = verify(shape, calls)) return fault;
    // One right result is enough of a candidate that is slower beyond doubt: it will not be chosen.
    if (may_be_slow && begin == 0 && state.estimate > surely_slower * *incumbent) return std::nullopt;
    room = slots(shape);
    if (auto fault = reserve(shape, std::min(room, sets.size()))) return fault;
  }
  return std::nullopt;
}

bool Lane::only_timed_shape() const {
  return std::count_if(problem_.shapes.begin(), problem_.shapes.end(),
                       [](const Shape& shape) { return shape.weight > 0; }) == 1;
}

double Lane::floor_seconds(std::size_t shape) const {
  // A margin of a tenth: clocks are what the device says, and counts are the problem's.
  constexpr double margin = 0.9;
  double floor = 0;
  const auto& variables = problem_.shapes[shape].variables;
  if (problem_.operations && device_.peak_operations() > 0)
    floor = to_number(kernelsearch::evaluate(*problem_.operations, variables)) / device_.peak_operations();
  if (problem_.bytes && device_.peak_bandwidth() > 0 && options_.cache == CacheMode::cold) {
    // What was written may stay in the cache.
    const double bytes =
        to_number(kernelsearch::evaluate(*problem_.bytes, variables)) -
        std::min(static_cast<double>(device_.l2), static_cast<double>(output_bytes(plans_[shape])));
    floor = std::max(floor, bytes / device_.peak_bandwidth());
  }
  return margin * floor;
}

std::optional<Fault> Lane::batch(Subject& subject, std::size_t shape, std::size_t count,
                                 std::vector<double>& samples) {
  ShapeState& state = subject.shapes[shape];
  count = std::min(count, slots(shape));
  if (auto fault = reserve(shape, count)) return fault;
  const auto set = referee_.for_timing(shape);
  const auto secret = static_cast<std::size_t>(rng_.below(count));
  std::vector<Action> actions;
  std::vector<std::uint32_t> bindings;
  const std::uint64_t poison = rng_();
  for (std::size_t i = 0; i < count; ++i)
    fill(actions, shape, i, i == secret ? set->seed : rng_(), InputFlavour::declared, poison);
  for (std::size_t i = 0; i < count; ++i) {
    prepare(actions, shape, i);
    call(actions, bindings, subject, shape, i, true);
  }
  for (std::size_t i = 0; i < count; ++i) inspect(actions, shape, i, poison);
  GpuWorker::Done done;
  const double limit = options_.limits.call + 20 * state.estimate * static_cast<double>(count);
  if (auto fault = send(actions, bindings, limit, done)) {
    fault->reason += " (timed calls, shape " + problem_.shapes[shape].name + ")";
    return fault;
  }
  const auto inputs = static_cast<std::size_t>(
      std::count_if(plans_[shape].arguments.begin(), plans_[shape].arguments.end(),
                    [](const PlannedArgument& a) { return a.is_array && a.role == Role::in; }));
  std::size_t at = inputs * count;
  std::vector<std::uint64_t> results(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<std::uint64_t> before(
        done.values.begin() + static_cast<std::ptrdiff_t>(inputs * i),
        done.values.begin() + static_cast<std::ptrdiff_t>(inputs * (i + 1)));
    if (auto fault = judged(done.values, at, shape, before, results[i])) {
      fault->reason = "in a timed call, " + fault->reason;
      return fault;
    }
  }
  if (auto fault = verify(shape, {{set, secret}})) {
    if (fault->verdict == Verdict::wrong_result && state.results.contains(results[secret]))
      return Fault{Verdict::cheated, "a timed call gave the result of an earlier call: " + fault->reason};
    fault->reason = "in a timed call, " + fault->reason;
    return fault;
  }
  state.results.insert(results.begin(), results.end());
  samples.insert(samples.end(), done.seconds.begin(), done.seconds.end());
  state.estimate = median(done.seconds);
  return std::nullopt;
}

std::optional<Fault> Lane::measure(Subject& subject, Measurement& measurement, Features& features,
                                   const EvaluationContext& context) {
  constexpr double batch_seconds = 0.02, flush_seconds = 60e-6;
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
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (done[i]) continue;
      ShapeState& state = subject.shapes[shapes[i]];
      ShapeMeasurement& shape = measurement.shapes[i];
      const double begin = monotonic_seconds();
      // What looks surely slower gets a few samples to be sure of it, not a full batch.
      const bool hopeless =
          context.incumbent && shape.samples.empty() && shapes.size() == 1 &&
          state.estimate > 1.25 * *context.incumbent * (1 + options_.sampling.slower_margin);
      const auto wanted = static_cast<std::size_t>(batch_seconds / (state.estimate + flush_seconds)) + 1;
      const std::size_t count = hopeless ? 3 : std::clamp<std::size_t>(wanted, 6, most_slots / 2);
      std::vector<double> samples;
      if (auto fault = batch(subject, shapes[i], count, samples)) return fault;
      // Reasons to slow down stay set for a while after the load that caused them, so that looking once is enough;
      // what is surely slower is not looked at, since asking takes as long as some kernels.
      const auto after = nvml_ && !hopeless ? nvml_->state() : std::nullopt;
      state.elapsed += monotonic_seconds() - begin;
      if (after) {
        features.set("clock_mhz", after->clock_mhz);
        features.set("temperature", after->temperature);
        features.set("watts", after->watts);
      }
      const bool throttled = after && after->throttled;
      if (throttled && options_.discard_throttled && state.elapsed < 4 * options_.sampling.budget_seconds) {
        ++discarded;
      } else {
        shape.samples.insert(shape.samples.end(), samples.begin(), samples.end());
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

std::optional<Fault> Lane::pair_batch(Subject& subject, Subject& other, std::size_t shape, std::size_t count,
                                      PairedTimes& times) {
  count = std::max<std::size_t>(1, std::min(count, slots(shape) / 2));
  if (auto fault = reserve(shape, 2 * count)) return fault;
  const auto set = referee_.for_timing(shape);
  const auto secret = static_cast<std::size_t>(rng_.below(count));
  std::vector<Action> actions;
  std::vector<std::uint32_t> bindings;
  const std::uint64_t poison = rng_();
  for (std::size_t i = 0; i < count; ++i) {
    fill(actions, shape, 2 * i, i == secret ? set->seed : rng_(), InputFlavour::declared, poison);
    fill(actions, shape, 2 * i + 1, rng_(), InputFlavour::declared, poison);
  }
  for (std::size_t i = 0; i < count; ++i) {  // A B B A: a drift of the machine meets both alike
    const bool ours_first = i % 2 == 0;
    for (const bool ours : {ours_first, !ours_first}) {
      const std::size_t slot = ours ? 2 * i : 2 * i + 1;
      prepare(actions, shape, slot);
      call(actions, bindings, ours ? subject : other, shape, slot, true);
    }
  }
  GpuWorker::Done done;
  if (auto fault = send(actions, bindings, options_.limits.call * static_cast<double>(count + 1), done))
    return fault;
  if (auto fault = verify(shape, {{set, 2 * secret}})) {
    fault->reason = "in a timed call, " + fault->reason;
    return fault;
  }
  for (std::size_t i = 0; i < count && 2 * i + 1 < done.seconds.size(); ++i) {
    const double first = done.seconds[2 * i], second = done.seconds[2 * i + 1];
    times.candidate.push_back(i % 2 == 0 ? first : second);
    times.reference.push_back(i % 2 == 0 ? second : first);
  }
  return std::nullopt;
}

std::optional<Fault> Lane::pairs(Subject& subject, Subject& other, Speedup& speedup,
                                 Measurement* measurement) {
  std::vector<PairedTimes> all;
  for (std::size_t s = 0; s < plans_.size(); ++s) {
    if (!timed(s) || !other.shapes[s].valid) continue;
    PairedTimes times;
    times.weight = problem_.shapes[s].weight;
    const double begin = monotonic_seconds();
    while (times.candidate.size() < options_.pairs.max_pairs) {
      if (auto fault = pair_batch(subject, other, s, options_.pairs.min_pairs, times)) return fault;
      if (times.candidate.size() < options_.pairs.min_pairs) continue;
      const Speedup now = paired_speedup(times);
      if (now.interval.high - now.interval.low <= 2 * options_.pairs.precision * now.ratio) break;
      if (monotonic_seconds() - begin > options_.pairs.budget_seconds) break;
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

Evaluation Lane::judge(const GpuArtifact& artifact, const GpuArtifact* baseline, Evaluation evaluation,
                       const EvaluationContext& context) {
  double begin = monotonic_seconds();
  start();
  Subject subject;
  auto fault = admit(artifact, candidate_module, subject, evaluation.features);
  if (!fault) fault = check(subject, evaluation.features, context.incumbent);
  evaluation.phases.check = monotonic_seconds() - begin;
  begin = monotonic_seconds();
  if (!fault) fault = measure(subject, evaluation.measurement, evaluation.features, context);
  const bool improved = !context.incumbent || evaluation.measurement.seconds < *context.incumbent;
  const Pairing when = options_.pairs.when;
  if (!fault && baseline != nullptr && !context.stop.stop_requested() &&
      (when == Pairing::always || (when == Pairing::improved && improved))) {
    Subject other;
    Features ignored;
    Speedup speedup;
    // A baseline that cannot be launched leaves the candidate without a speedup, not without its verdict.
    if (!admit(*baseline, other_module, other, ignored)) {
      fault = pairs(subject, other, speedup, &evaluation.measurement);
      if (!fault && speedup.pairs > 0) evaluation.measurement.speedup = speedup;
    }
    dismiss(other);
  }
  dismiss(subject);
  evaluation.phases.measure = monotonic_seconds() - begin;
  if (fault) {
    rewrite_guards_ = true;
    // It wrote where it must not, so who knows what else is damaged.
    if (fault->verdict == Verdict::cheated) worker_->stop();
    evaluation.verdict = fault->verdict;
    evaluation.reason = fault->reason;
    evaluation.progress = graded_progress(fault->verdict, fault->right_share);
    evaluation.measurement = {};
  }
  return evaluation;
}

std::optional<Fault> Lane::compare(const GpuArtifact& candidate, const GpuArtifact& champion,
                                   Speedup& speedup) {
  start();
  Subject ours, theirs;
  Features ignored;
  auto fault = admit(candidate, candidate_module, ours, ignored);
  if (!fault) fault = admit(champion, other_module, theirs, ignored);
  if (!fault) fault = check(ours, ignored, std::nullopt);
  if (!fault) fault = check(theirs, ignored, std::nullopt);
  if (!fault) fault = pairs(ours, theirs, speedup, nullptr);
  dismiss(ours);
  dismiss(theirs);
  return fault;
}

}  // namespace kernelsearch::detail::gpu
