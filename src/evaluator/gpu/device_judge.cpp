// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/device_judge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

#include "evaluator/gpu/candidate_code.hpp"
#include "evaluator/gpu/device_judge_parts.hpp"
#include "evaluator/gpu/device_source.hpp"
#include "evaluator/gpu/hidden_shape_check.hpp"
#include "evaluator/gpu/service_source.hpp"
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

std::size_t shared_bytes(const std::vector<ShapePlan>& plans, const MadeInputs& made, std::uint64_t least) {
  // So that the outputs of several calls on small shapes are copied at once.
  std::uint64_t most = std::max<std::uint64_t>(4 << 20, least);
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

DeviceJudge::DeviceJudge(const Problem& problem, const GpuOptions& options, const GpuDevice& device,
                         int ordinal, BuilderPool& builders, std::uint64_t least_shared)
    : problem_(problem),
      options_(options),
      device_(device),
      ordinal_(ordinal),
      builders_(builders),
      plans_(plans_of(problem)),
      at_shape_(arguments_at_shapes(problem)),
      made_(problem, plans_, options),
      shared_(shared_bytes(plans_, made_, least_shared), Arena::Writers::both),
      referee_(problem, plans_, at_shape_, made_, options, device, ordinal, builders, shared_),
      metrics_(problem),
      launches_(launches_itself(problem.kernel)) {
  number_shapes();
  if (options.check.hidden_shapes) {
    std::string why_not;
    const Problem varied = with_hidden_shapes(problem, why_not);
    if (varied.hidden_shapes && !varied.hidden_shapes->ranges.empty())
      hidden_ = std::make_unique<HiddenShapeCheck>(varied, options, device, ordinal, builders);
    else if (!why_not.empty() && options.notes)
      options.notes(sizes_not_varied(why_not));
  }
  if (device.backend == GpuBackend::cuda) {
    std::string ignored;  // without NVML clocks and temperature are unknown, which is not a fault
    nvml_ = Nvml::open(device.bus, ignored);
  }
}

DeviceJudge::~DeviceJudge() = default;

void DeviceJudge::number_shapes() {
  for (std::size_t s = slot_buffers_.size(); s < plans_.size(); ++s) {
    const std::size_t arguments = plans_[s].arguments.size();
    std::vector<BufferId>& slots = slot_buffers_.emplace_back();
    for (std::size_t i = 0; i < most_slots * arguments; ++i) slots.push_back(buffer_ids_.next());
    for (const ModuleId module : {candidate_module, other_module})
      programs_[{module, s}] = program_ids_.next();
  }
}

void DeviceJudge::take_shapes() {
  pending_.clear();
  plans_ = plans_of(problem_);
  at_shape_ = arguments_at_shapes(problem_);
  number_shapes();
  referee_.take_shapes();
  // Numbers of buffers stand for others of other sizes from now on.
  referee_.give_back(now_.number);
  forget_made();
  now_.reserved.assign(plans_.size(), 0);
}

double DeviceJudge::reference_seconds() const {
  double seconds = 0;
  for (std::size_t shape = 0; shape < plans_.size(); ++shape) seconds += referee_.known_cost(shape);
  return seconds;
}

BufferId DeviceJudge::slot_buffer(std::size_t shape, std::size_t slot, std::size_t argument) const {
  return slot_buffers_[shape].at(slot * problem_.arguments.size() + argument);
}

ProgramId DeviceJudge::program_of(ModuleId module, std::size_t shape) const {
  return programs_.at({module, shape});
}

Fault DeviceJudge::fault_of(const WorkerError& error) {
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

std::optional<Fault> DeviceJudge::send(std::vector<Action> actions, double seconds, Act::Reply& done) {
  const auto timed_calls =
      static_cast<std::size_t>(std::count_if(actions.begin(), actions.end(), [](const Action& action) {
        const auto* call = std::get_if<CallProgram>(&action);
        return call != nullptr && call->timed;
      }));
  if (const auto error = now_.worker->act(std::move(actions), seconds, done)) {
    // Even an error that leaves the context alive may leave work behind in it.
    now_.worker->stop();
    return fault_of(*error);
  }
  for (const double call : done.seconds) busy_.store(busy_.load() + call);
  if (done.seconds.size() == timed_calls) return std::nullopt;
  now_.worker->stop();
  return Fault{Verdict::crashed, "its process lost count of the calls"};
}

void DeviceJudge::start(std::size_t candidates) {
  pending_.clear();
  held_.assign(plans_.size(), 0);
  take_started(false);
  if (!waiting_.empty()) {
    waiting_.push_back(std::move(now_));
    now_ = std::move(waiting_.front());
    waiting_.pop_front();
    referee_.use_process(now_.number);
  }
  // It has been shown enough of the secret sets of slow references that another one must take its place.
  if (now_.worker && !referee_.has_unseen(candidates)) now_.worker->stop();
  // A failed candidate may have damaged them; and some sets are of no more use.
  if (now_.rewrite_guards || now_.held_made_bytes > memory_ / 8) forget_made();
  // What an earlier candidate did to the zones around arrays is not this one's fault.
  if (now_.worker && now_.worker->alive() && (!now_.rewrite_guards || !guard_all())) {
    now_.rewrite_guards = false;
    return;
  }
  if (now_.worker) end(now_);
  now_ = started();
  now_.number = referee_.new_process();
  if (memory_ == 0 || waiting_.empty()) memory_ = now_.memory_free;
  if (!launches_) return;
  if (const auto fault = calibrate()) {
    now_.worker.reset();
    raise<DeviceError>("the device does not carry out calls of the evaluator", fault->reason,
                       "see `kernelsearch doctor`");
  }
}

Sandbox DeviceJudge::in_worker(Sandbox chosen) const noexcept {
  return launches_ || device_.on_host ? chosen : Sandbox::none;
}

DeviceJudge::Process DeviceJudge::started() {
  Process process;
  // Kept only once it is ready: one that failed half-way must not serve the next candidate.
  process.worker = std::make_unique<GpuWorkerClient>(find_gpu_worker(options_.worker), device_.backend,
                                                     GpuWorkerClient::Role::device, ordinal_, &shared_,
                                                     in_worker(options_.sandbox));
  GpuDevice device;
  if (const auto error = process.worker->hello(options_.limits.start, device))
    raise<DeviceError>(
        "the device cannot be used", error->text,
        in_worker(options_.sandbox) == Sandbox::landlock
            ? "see `kernelsearch doctor`; where the sandbox landlock keeps the driver from starting, "
              "install bubblewrap, or use --sandbox none for code that you trust"
            : "see `kernelsearch doctor`");
  process.memory_free = device.memory_free;
  const Built services =
      builders_.build(service_source(device_.backend), compile_options(device_, options_, {}),
                      {service_names(), service_names() + service_count});
  if (services.verdict != Verdict::ok)
    raise<ConfigError>("the kernels of the evaluator do not build", services.reason,
                       "see `kernelsearch doctor`");
  std::vector<FunctionFacts> facts;
  if (const auto error = process.worker->load(service_module, *services.image, services.functions, facts))
    raise<DeviceError>("the kernels of the evaluator do not load", error->text, "see `kernelsearch doctor`");
  process.reserved.assign(plans_.size(), 0);
  process.guard_seed = secret_seed();
  return process;
}

void DeviceJudge::end(Process& process) {
  if (process.worker) process.worker->stop();
  referee_.give_back(process.number);
  process = {};
}

std::size_t DeviceJudge::processes_wanted() {
  // For a reference that takes less than this for a check there is nothing to be saved that is worth a
  // process, which takes some 0.3 s to start, once.
  constexpr double worth_seconds = 0.004;
  // On the processors of the host they would also take these from the candidate that is measured.
  if (launches_ || device_.on_host || made_.any() || options_.processes < 2) return 1;
  double seconds = 0;
  std::uint64_t bytes = 1;
  for (std::size_t shape = 0; shape < plans_.size(); ++shape) {
    bytes += slot_bytes(plans_[shape]) * slots(shape);
    if (!referee_.is_dear(shape)) seconds += referee_.cost_of_check(shape);
  }
  // Each must have room for as many calls as if it were the only one.
  const std::uint64_t room = options_.buffer_memory != 0 ? options_.buffer_memory : memory_ / 2;
  const double most = static_cast<double>(std::min<std::uint64_t>(options_.processes, room / bytes));
  return static_cast<std::size_t>(std::clamp(std::floor(seconds / worth_seconds), 1.0, std::max(1.0, most)));
}

void DeviceJudge::start_others() {
  wanted_ = processes_wanted();
  if (wanted_ < 2) return;
  referee_.share_among(wanted_);
  // Finalists are judged in two fresh processes, one after the other.
  constexpr std::size_t spare = 2;
  // One after another: the driver lets only one at a time make its context, some 0.12 s on an H200, and
  // several that wait for that keep the candidates' modules and buffers waiting with them. What a candidate's
  // calls take is not changed by it: docs/benchmarks/judge.md.
  starter_ = std::jthread([this, count = wanted_ - 1 + spare](const std::stop_token& stop) {
    try {
      for (std::size_t i = 0; i < count && !stop.stop_requested(); ++i) {
        Process process = started();
        const std::scoped_lock lock(ready_mutex_);
        ready_.push_back(std::move(process));
      }
    } catch (const Error&) {  // then there are fewer
    }
  });
}

void DeviceJudge::take_started(bool no_more) {
  if (no_more) {
    starter_.request_stop();
    if (starter_.joinable()) starter_.join();
  }
  const std::scoped_lock lock(ready_mutex_);
  for (Process& process : ready_) {
    if (waiting_.size() + 1 < wanted_) {
      const std::uint64_t at_hand = now_.number;
      process.number = referee_.new_process();
      referee_.use_process(at_hand);
      waiting_.push_back(std::move(process));
    } else {
      spare_.push_back(std::move(process));
    }
  }
  ready_.clear();
}

void DeviceJudge::prepare() {
  const auto attempt = [](const auto& action) {
    try {
      action();
    } catch (const Error&) {  // said by the one who needs it
    }
  };
  std::thread hidden([&] {
    if (hidden_) attempt([this] { hidden_->prepare(); });
  });
  std::thread referee([&] { attempt([this] { referee_.prepare(); }); });
  if (launches_) referee.join();  // it takes part in calibrating
  attempt([this] { start(); });
  if (!launches_) referee.join();
  attempt([this] { start_others(); });
  hidden.join();
}

void DeviceJudge::renew() {
  take_started(true);
  for (Process& process : waiting_) end(process);
  waiting_.clear();
  end(now_);
  if (!spare_.empty()) {
    now_ = std::move(spare_.back());
    spare_.pop_back();
    now_.number = referee_.new_process();
  }
  referee_.share_among(1);
  referee_.forget();
  if (hidden_) hidden_->renew();
}

std::size_t DeviceJudge::slots(std::size_t shape) {
  const std::uint64_t memory = options_.buffer_memory != 0 ? options_.buffer_memory : memory_ / 4;
  const std::uint64_t each = std::max<std::uint64_t>(1, slot_bytes(plans_[shape]));
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(memory / each, 2, timed(shape) ? most_slots : 8));
}

std::optional<Fault> DeviceJudge::reserve(std::size_t shape, std::size_t count) {
  if (now_.reserved[shape] >= count) return std::nullopt;
  std::vector<AllocateBuffers::Buffer> buffers;
  std::vector<Action> guards;
  for (std::size_t slot = now_.reserved[shape]; slot < count; ++slot) {
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const PlannedArgument& planned = plans_[shape].arguments[a];
      if (!planned.is_array || planned.role == Role::workspace) continue;
      buffers.push_back({slot_buffer(shape, slot, a), bytes_of(planned)});
    }
    guard(guards, shape, slot);
  }
  if (const auto error = now_.worker->allocate(std::move(buffers)))
    raise<DeviceError>("no memory for the buffers of shape " + problem_.shapes[shape].name, error->text,
                       "use smaller shapes or less buffer_memory");
  now_.reserved[shape] = count;
  Act::Reply done;
  return send(std::move(guards), 60, done);
}

void DeviceJudge::guard(std::vector<Action>& actions, std::size_t shape, std::size_t slot) const {
  for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
    const PlannedArgument& planned = plans_[shape].arguments[a];
    if (!planned.is_array || planned.role == Role::workspace) continue;
    const BufferId buffer = slot_buffer(shape, slot, a);
    actions.emplace_back(WriteGuard{buffer, now_.guard_seed + number(buffer)});
  }
}

std::optional<Fault> DeviceJudge::guard_all() {
  std::vector<Action> actions;
  for (std::size_t shape = 0; shape < now_.reserved.size(); ++shape)
    for (std::size_t slot = 0; slot < now_.reserved[shape]; ++slot) guard(actions, shape, slot);
  Act::Reply done;
  return actions.empty() ? std::nullopt : send(std::move(actions), 60, done);
}

std::optional<Fault> DeviceJudge::admit(const GpuArtifact& artifact, ModuleId module, Subject& subject,
                                        Features& features) {
  subject.module = module;
  subject.shapes.resize(problem_.shapes.size());
  std::vector<FunctionFacts> facts;
  if (const auto error =
          load_candidate(*now_.worker, module, *artifact.image, artifact.library, artifact.functions, facts))
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
    state.plan = plan_call(problem_, artifact.candidate, s, module, names, reason, artifact.launches);
    if (!reason.empty()) return Fault{Verdict::rejected, reason};
    if (const std::string limit = beyond_limits(device_, state.plan.program); !limit.empty())
      return Fault{Verdict::launch_failed,
                   "launching the kernel for shape " + problem_.shapes[s].name + ": " + limit};
    std::vector<std::int32_t> blocks;
    if (const auto error = now_.worker->define(program_of(module, s), state.plan.program, blocks))
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
      if (fit > 0) blocks_fit = std::min(blocks_fit, static_cast<double>(fit));  // 0: the driver does not say
      dynamic = std::max(dynamic, static_cast<double>(kernel->shape.shared_bytes));
      if (fit > 0 && device_.threads_per_multiprocessor > 0)
        occupancy = std::min(occupancy, fit * threads / device_.threads_per_multiprocessor);
    }
    state.workspaces.assign(problem_.arguments.size(), std::nullopt);
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      if (problem_.arguments[a].role != Role::workspace) continue;
      const std::uint64_t bytes = bytes_of(state.plan.arguments.arguments[a]);
      // As large as it says and no larger, so that the zones around it are next to it.
      const auto key = std::make_tuple(module, s, a);
      auto known = now_.workspaces.find(key);
      if (known == now_.workspaces.end() || known->second.bytes != bytes) {
        const BufferId buffer = known == now_.workspaces.end() ? buffer_ids_.next() : known->second.buffer;
        now_.workspaces.erase(key);  // what there was is released, and there may be no room for more
        if (const auto error = now_.worker->allocate({{buffer, bytes}})) return fault_of(*error);
        known = now_.workspaces.insert({key, {buffer, bytes}}).first;
      }
      const BufferId buffer = known->second.buffer;
      state.workspaces[a] = buffer;
      guards.emplace_back(WriteGuard{buffer, now_.guard_seed + number(buffer)});
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
    most.multiple = std::max(most.multiple, f.multiple);
  }
  if (!artifact.library) {
    const bool shaders = device_.backend == GpuBackend::vulkan;  // which says nothing of either
    if (!shaders && device_.backend != GpuBackend::opencl) features.set("registers", most.registers);
    if (most.multiple > 0) features.set("preferred_multiple", most.multiple);
    features.set("shared_bytes", most.shared + dynamic);
    if (!shaders) features.set("local_bytes", most.local);
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

void DeviceJudge::dismiss(Subject& subject, const GpuArtifact& artifact) {
  if (!now_.worker || !now_.worker->alive()) return;
  // What ran in the process itself may have left anything in it.
  if (artifact.library)
    now_.worker->stop();
  else
    (void)now_.worker->unload(subject.module);
}

Evaluation DeviceJudge::judge(const GpuArtifact& artifact, const GpuArtifact* baseline, Evaluation evaluation,
                              const EvaluationContext& context) {
  double begin = monotonic_seconds();
  const double referee_before = referee_seconds_;
  const bool unknown_baseline = baseline != nullptr && !baseline_ok_;
  start(unknown_baseline ? 2 : 1);
  Subject subject;
  subject.finalist = !context.in_search();
  auto fault = admit(artifact, candidate_module, subject, evaluation.features);
  if (!fault) fault = check(subject, evaluation.features, context.incumbent);
  if (!fault && hidden_) {
    fault = verify_pending();  // of the listed shapes first
    if (!fault) fault = hidden_->check(artifact, evaluation.provenance);
  }
  evaluation.phases.check = monotonic_seconds() - begin;
  begin = monotonic_seconds();
  if (!fault) fault = measure(subject, evaluation.measurement, evaluation.features, context);
  // What seemed slow when it was checked, and is not, is checked like any other.
  if (!fault && subject.checked_in_part &&
      evaluation.measurement.seconds < surely_slower * *context.incumbent) {
    fault = check(subject, evaluation.features, std::nullopt);
    if (!fault) fault = verify_pending();
  }
  if (!fault) metrics_.set(evaluation.features);
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
  evaluation.phases.reference = referee_seconds_ - referee_before;
  if (fault) {
    now_.rewrite_guards = true;
    // It wrote where it must not, so who knows what else is damaged.
    if (fault->verdict == Verdict::cheated) now_.worker->stop();
    fail(evaluation, *fault);
  }
  return evaluation;
}

std::optional<Fault> DeviceJudge::check_only(const GpuArtifact& artifact) {
  start();
  Subject subject;
  Features ignored;
  auto fault = admit(artifact, candidate_module, subject, ignored);
  if (!fault) fault = check(subject, ignored, std::nullopt);
  if (!fault) fault = verify_pending();
  dismiss(subject, artifact);
  if (fault) {
    now_.rewrite_guards = true;
    if (fault->verdict == Verdict::cheated) now_.worker->stop();
  }
  return fault;
}

std::optional<Fault> DeviceJudge::compare(const GpuArtifact& candidate, const GpuArtifact& champion,
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
