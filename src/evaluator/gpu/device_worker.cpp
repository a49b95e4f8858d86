// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/device_worker.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include "evaluator/gpu/candidate_code.hpp"
#include "evaluator/gpu/device_source.hpp"
#include "evaluator/gpu/device_worker_parts.hpp"
#include "evaluator/gpu/service_source.hpp"
#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/evaluate.hpp"

namespace kernelsearch::detail::gpu {
namespace {

std::vector<ShapePlan> plans_of(const Problem& problem) {
  std::vector<ShapePlan> plans;
  const Candidate first = problem.default_candidate();
  for (std::size_t s = 0; s < problem.shapes.size(); ++s) plans.push_back(plan_shape(problem, first, s));
  return plans;
}

std::size_t shared_bytes(const std::vector<ShapePlan>& plans, const MadeInputs& made) {
  std::uint64_t most = 4 << 20;  // so that the outputs of several calls on small shapes are copied at once
  constexpr std::uint64_t piece = 64 << 20;  // of inputs; more are copied piece by piece
  for (std::size_t s = 0; s < plans.size(); ++s)
    most = std::max({most, output_bytes(plans[s]), std::min(piece, made.bytes(s))});
  return static_cast<std::size_t>(most);
}

/// Per shape the arguments with their numbers for it, which drawing on the device needs.
std::vector<std::vector<Argument>> arguments_at_shapes(const Problem& problem) {
  std::vector<std::vector<Argument>> all;
  for (const Shape& shape : problem.shapes) {
    std::vector<Argument>& arguments = all.emplace_back();
    for (const Argument& argument : problem.arguments)
      arguments.push_back(argument.is_input() ? at_shape(argument, shape) : argument);
  }
  return all;
}

/// What a launch asks for and the device does not have, which a driver calls an invalid value; empty:
/// nothing.
std::string beyond_limits(const GpuDevice& device, const ProgramPlan& program) {
  for (const Step& step : program.steps) {
    const auto* launch = std::get_if<LaunchKernel>(&step);
    if (launch == nullptr) continue;
    const auto& block = launch->shape.block;
    constexpr std::uint64_t enough = std::uint64_t{1} << 32;  // three extents may be more than 64 bits
    const std::uint64_t threads =
        std::min(std::uint64_t{block[0]} * block[1], enough) * std::min(std::uint64_t{block[2]}, enough >> 1);
    if (device.threads_per_block > 0 && threads > static_cast<std::uint64_t>(device.threads_per_block))
      return "a block of " + std::to_string(threads) + " threads, and the device runs at most " +
             std::to_string(device.threads_per_block);
    if (device.shared_per_block > 0 && launch->shape.shared_bytes > device.shared_per_block)
      return std::to_string(launch->shape.shared_bytes) +
             " bytes of dynamic shared memory, and the device gives a block at most " +
             std::to_string(device.shared_per_block);
  }
  return {};
}

}  // namespace

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

DeviceWorker::DeviceWorker(const Problem& problem, const GpuOptions& options, const GpuDevice& device,
                           int ordinal, BuilderPool& builders)
    : problem_(problem),
      options_(options),
      device_(device),
      ordinal_(ordinal),
      builders_(builders),
      plans_(plans_of(problem)),
      at_shape_(arguments_at_shapes(problem)),
      made_(problem, plans_, options),
      shared_(shared_bytes(plans_, made_), Arena::Writers::both),
      referee_(problem, plans_, at_shape_, made_, options, device, ordinal, builders, shared_),
      launches_(launches_itself(problem.kernel)) {
  for (const ShapePlan& plan : plans_) {
    std::vector<BufferId>& slots = slot_buffers_.emplace_back();
    for (std::size_t i = 0; i < most_slots * plan.arguments.size(); ++i) slots.push_back(buffer_ids_.next());
    std::vector<BufferId>& stage = stage_buffers_.emplace_back();
    for (std::size_t a = 0; a < plan.arguments.size(); ++a) stage.push_back(buffer_ids_.next());
  }
  IdSource<ProgramId> programs;
  for (const ModuleId module : {candidate_module, other_module})
    for (std::size_t s = 0; s < plans_.size(); ++s) programs_[{module, s}] = programs.next();
  if (device.backend == GpuBackend::cuda) {
    std::string ignored;  // without NVML clocks and temperature are unknown, which is no fault
    nvml_ = Nvml::open(device.bus, ignored);
  }
}

BufferId DeviceWorker::slot_buffer(std::size_t shape, std::size_t slot, std::size_t argument) const {
  return slot_buffers_[shape].at(slot * problem_.arguments.size() + argument);
}

ProgramId DeviceWorker::program_of(ModuleId module, std::size_t shape) const {
  return programs_.at({module, shape});
}

Fault DeviceWorker::fault_of(const WorkerError& error) {
  if (error.kind == WorkerError::timed_out) return {Verdict::timed_out, error.text};
  if (error.kind == WorkerError::ended) return {Verdict::crashed, "its process ended: " + error.text};
  switch (error.status) {
    case not_launched:
      return {Verdict::rejected, error.text};
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

std::optional<Fault> DeviceWorker::send(std::vector<Action> actions, double seconds, Act::Reply& done) {
  const auto timed_calls =
      static_cast<std::size_t>(std::count_if(actions.begin(), actions.end(), [](const Action& action) {
        const auto* call = std::get_if<CallProgram>(&action);
        return call != nullptr && call->timed;
      }));
  if (const auto error = worker_->act(std::move(actions), seconds, done)) {
    // Even an error that leaves the context alive may leave work behind in it.
    worker_->stop();
    return fault_of(*error);
  }
  for (const double call : done.seconds) busy_.store(busy_.load() + call);
  if (done.seconds.size() == timed_calls) return std::nullopt;
  worker_->stop();
  return Fault{Verdict::crashed, "its process lost count of the calls"};
}

void DeviceWorker::start(std::size_t candidates) {
  pending_.clear();
  held_.assign(plans_.size(), 0);
  // It has been shown so many of the secret sets of slow references that another one must take its place.
  if (worker_ && !referee_.has_unseen(candidates)) worker_->stop();
  // A failed candidate may have damaged them; and some sets are of no more use.
  if (rewrite_guards_ || held_made_bytes_ > memory_ / 8) forget_made();
  // What an earlier candidate did to the zones around arrays is not this one's fault.
  if (worker_ && worker_->alive() && (!rewrite_guards_ || !guard_all())) {
    rewrite_guards_ = false;
    return;
  }
  rewrite_guards_ = false;
  if (worker_) referee_.give_back();
  worker_.reset();
  // Kept only once it is ready: one that failed half-way must not serve the next candidate.
  auto starting =
      std::make_unique<GpuWorker>(find_gpu_worker(options_.worker), device_.backend, GpuWorker::Role::device,
                                  ordinal_, &shared_, launches_ ? options_.sandbox : Sandbox::none);
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
  if (const auto error = starting->load(service_module, *services.image, services.functions, facts))
    raise<DeviceError>("the kernels of the evaluator do not load", error->text, "see `kernelsearch doctor`");
  reserved_.assign(plans_.size(), 0);
  staged_.assign(plans_.size(), false);
  workspaces_.clear();
  held_made_.clear();
  held_made_bytes_ = 0;
  guard_seed_ = secret_seed();
  worker_ = std::move(starting);
  referee_.new_process();
  if (!launches_) return;
  if (const auto fault = calibrate()) {
    worker_.reset();
    raise<DeviceError>("the device does not carry out calls of the evaluator", fault->reason,
                       "see `kernelsearch doctor`");
  }
}

void DeviceWorker::prepare() {
  const auto attempt = [](const auto& action) {
    try {
      action();
    } catch (const Error&) {  // said by whoever needs it
    }
  };
  std::thread referee([&] { attempt([this] { referee_.prepare(); }); });
  if (launches_) referee.join();  // it takes part in calibrating
  attempt([this] { start(); });
  if (!launches_) referee.join();
}

void DeviceWorker::renew() {
  if (worker_) worker_->stop();
  referee_.forget();
}

std::size_t DeviceWorker::slots(std::size_t shape) {
  const std::uint64_t memory = options_.buffer_memory != 0 ? options_.buffer_memory : memory_ / 4;
  const std::uint64_t each = std::max<std::uint64_t>(1, slot_bytes(plans_[shape]));
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(memory / each, 2, timed(shape) ? most_slots : 8));
}

std::optional<Fault> DeviceWorker::reserve(std::size_t shape, std::size_t count) {
  if (reserved_[shape] >= count) return std::nullopt;
  std::vector<AllocateBuffers::Buffer> buffers;
  std::vector<Action> guards;
  for (std::size_t slot = reserved_[shape]; slot < count; ++slot) {
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const PlannedArgument& planned = plans_[shape].arguments[a];
      if (!planned.is_array || planned.role == Role::workspace) continue;
      buffers.push_back({slot_buffer(shape, slot, a), bytes_of(planned)});
    }
    guard(guards, shape, slot);
  }
  if (const auto error = worker_->allocate(std::move(buffers)))
    raise<DeviceError>("no memory for the buffers of shape " + problem_.shapes[shape].name, error->text,
                       "use smaller shapes or less buffer_memory");
  reserved_[shape] = count;
  Act::Reply done;
  return send(std::move(guards), 60, done);
}

void DeviceWorker::guard(std::vector<Action>& actions, std::size_t shape, std::size_t slot) const {
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    const PlannedArgument& planned = plans_[shape].arguments[a];
    if (!planned.is_array || planned.role == Role::workspace) continue;
    const BufferId buffer = slot_buffer(shape, slot, a);
    actions.emplace_back(WriteGuard{buffer, guard_seed_ + number(buffer)});
  }
}

std::optional<Fault> DeviceWorker::guard_all() {
  std::vector<Action> actions;
  for (std::size_t shape = 0; shape < reserved_.size(); ++shape)
    for (std::size_t slot = 0; slot < reserved_[shape]; ++slot) guard(actions, shape, slot);
  Act::Reply done;
  return actions.empty() ? std::nullopt : send(std::move(actions), 60, done);
}

std::optional<Fault> DeviceWorker::admit(const GpuArtifact& artifact, ModuleId module, Subject& subject,
                                         Features& features) {
  subject.module = module;
  subject.shapes.resize(problem_.shapes.size());
  std::vector<FunctionFacts> facts;
  if (const auto error =
          load_candidate(*worker_, module, *artifact.image, artifact.library, artifact.functions, facts))
    return fault_of(*error);
  const std::vector<std::string> names = launched_kernels(problem_, artifact.candidate);
  double occupancy = 1, blocks_fit = 1e9, dynamic = 0, block_threads = 0;
  std::array<double, 2> block{};  // of the largest launch, as KernelBand's runtime vector has it
  std::vector<Action> guards;
  for (std::size_t s = 0; s < subject.shapes.size(); ++s) {
    ShapeState& state = subject.shapes[s];
    state.valid = is_valid(problem_, problem_.shapes[s], artifact.candidate);
    if (!state.valid) continue;
    std::string reason;
    state.plan = plan_call(problem_, artifact.candidate, s, module, names, reason);
    if (!reason.empty()) return Fault{Verdict::rejected, reason};
    if (const std::string limit = beyond_limits(device_, state.plan.program); !limit.empty())
      return Fault{Verdict::launch_failed,
                   "launching the kernel for shape " + problem_.shapes[s].name + ": " + limit};
    std::vector<std::int32_t> blocks;
    if (const auto error = worker_->define(program_of(module, s), state.plan.program, blocks))
      return fault_of(*error);
    std::size_t launch = 0;
    for (const Step& step : state.plan.program.steps) {
      const auto* kernel = std::get_if<LaunchKernel>(&step);
      if (kernel == nullptr) continue;
      const int fit = launch < blocks.size() ? blocks[launch] : 0;
      ++launch;
      const double threads =
          static_cast<double>(kernel->shape.block[0]) * kernel->shape.block[1] * kernel->shape.block[2];
      if (threads > block_threads) {
        block_threads = threads;
        block = {static_cast<double>(kernel->shape.block[0]), static_cast<double>(kernel->shape.block[1])};
      }
      blocks_fit = std::min(blocks_fit, static_cast<double>(fit));
      dynamic = std::max(dynamic, static_cast<double>(kernel->shape.shared_bytes));
      if (device_.threads_per_multiprocessor > 0)
        occupancy = std::min(occupancy, fit * threads / device_.threads_per_multiprocessor);
    }
    state.workspaces.assign(problem_.arguments.size(), std::nullopt);
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      if (problem_.arguments[a].role != Role::workspace) continue;
      const std::uint64_t bytes = bytes_of(state.plan.arguments.arguments[a]);
      // As large as it says and no larger, so that the zones around it are next to it.
      const auto key = std::make_tuple(module, s, a);
      auto known = workspaces_.find(key);
      if (known == workspaces_.end() || known->second.bytes != bytes) {
        const BufferId buffer = known == workspaces_.end() ? buffer_ids_.next() : known->second.buffer;
        workspaces_.erase(key);  // what there was is released, and there may be no room for more
        if (const auto error = worker_->allocate({{buffer, bytes}})) return fault_of(*error);
        known = workspaces_.insert({key, {buffer, bytes}}).first;
      }
      const BufferId buffer = known->second.buffer;
      state.workspaces[a] = buffer;
      guards.emplace_back(WriteGuard{buffer, guard_seed_ + number(buffer)});
    }
  }
  Act::Reply done;
  if (!guards.empty())
    if (auto fault = send(std::move(guards), 60, done)) return fault;
  FunctionFacts most;
  for (const FunctionFacts& f : facts) {
    most.registers = std::max(most.registers, f.registers);
    most.shared = std::max(most.shared, f.shared);
    most.local = std::max(most.local, f.local);
  }
  if (!artifact.library) {
    features.set("registers", most.registers);
    features.set("shared_bytes", most.shared + dynamic);
    features.set("local_bytes", most.local);
  }
  if (block_threads > 0) {
    features.set("block_threads", block_threads);
    features.set("block_x", block[0]);
    features.set("block_y", block[1]);
  }
  if (blocks_fit < 1e9) {
    features.set("blocks_per_multiprocessor", blocks_fit);
    features.set("occupancy", occupancy);
  }
  return std::nullopt;
}

void DeviceWorker::dismiss(Subject& subject, const GpuArtifact& artifact) {
  if (!worker_ || !worker_->alive()) return;
  // What ran in the process itself may have left anything in it.
  if (artifact.library)
    worker_->stop();
  else
    (void)worker_->unload(subject.module);
}

Evaluation DeviceWorker::judge(const GpuArtifact& artifact, const GpuArtifact* baseline,
                               Evaluation evaluation, const EvaluationContext& context) {
  double begin = monotonic_seconds();
  const bool unknown_baseline = baseline != nullptr && !baseline_ok_;
  start(unknown_baseline ? 2 : 1);
  Subject subject;
  subject.finalist = context.trial == TrialId{};  // of no search
  auto fault = admit(artifact, candidate_module, subject, evaluation.features);
  if (!fault) fault = check(subject, evaluation.features, context.incumbent);
  evaluation.phases.check = monotonic_seconds() - begin;
  begin = monotonic_seconds();
  if (!fault) fault = measure(subject, evaluation.measurement, evaluation.features, context);
  // What seemed slow when it was checked, and is not, is checked like any other.
  if (!fault && subject.checked_in_part &&
      evaluation.measurement.seconds < surely_slower * *context.incumbent) {
    fault = check(subject, evaluation.features, std::nullopt);
    if (!fault) fault = verify_pending();
  }
  const bool improved = !context.incumbent || evaluation.measurement.seconds < *context.incumbent;
  const Pairing when = options_.pairs.when;
  if (!fault && baseline != nullptr && baseline_ok_.value_or(true) && !context.stop.stop_requested() &&
      (when == Pairing::always || (when == Pairing::improved && improved))) {
    Speedup speedup;
    PairOptions limits = options_.pairs;
    limits.stop = context.stop;
    if (launches_) {
      fault = pairs_apart(artifact, *baseline, limits, false, speedup, &evaluation.measurement);
      if (!fault && speedup.pairs > 0) evaluation.measurement.speedup = speedup;
    } else {
      Subject other;
      Features ignored;
      // A baseline that is not ok leaves candidates without a speedup, not without their verdicts.
      auto unusable = admit(*baseline, other_module, other, ignored);
      if (!unusable && !baseline_ok_) {
        unusable = check(other, ignored, std::nullopt);
        if (!unusable) unusable = verify_pending();
        baseline_ok_ = !unusable;
      }
      if (!unusable) {
        fault = pairs(subject, other, limits, false, speedup, &evaluation.measurement);
        if (!fault && speedup.pairs > 0) evaluation.measurement.speedup = speedup;
      }
      dismiss(other, *baseline);
    }
  }
  set_load(evaluation.features, monotonic_seconds() - begin);
  dismiss(subject, artifact);
  evaluation.phases.measure = monotonic_seconds() - begin;
  if (fault) {
    rewrite_guards_ = true;
    // It wrote where it must not, so who knows what else is damaged.
    if (fault->verdict == Verdict::cheated) worker_->stop();
    evaluation.verdict = fault->verdict;
    evaluation.reason = clean_text(fault->reason);
    evaluation.progress = graded_progress(fault->verdict, fault->right_share);
    evaluation.measurement = {};
  }
  return evaluation;
}

std::optional<Fault> DeviceWorker::compare(const GpuArtifact& candidate, const GpuArtifact& champion,
                                           const PairOptions& limits, Speedup& speedup) {
  if (launches_) return pairs_apart(candidate, champion, limits, true, speedup, nullptr);
  start(2);
  Subject ours, theirs;
  ours.finalist = theirs.finalist = true;
  Features ignored;
  auto fault = admit(candidate, candidate_module, ours, ignored);
  if (!fault) fault = admit(champion, other_module, theirs, ignored);
  if (!fault) fault = check(ours, ignored, std::nullopt);
  if (!fault) fault = verify_pending();
  if (!fault) fault = check(theirs, ignored, std::nullopt);
  if (!fault) fault = verify_pending();
  if (!fault && !limits.stop.stop_requested()) fault = pairs(ours, theirs, limits, true, speedup, nullptr);
  dismiss(ours, candidate);
  dismiss(theirs, champion);
  return fault;
}

}  // namespace kernelsearch::detail::gpu
