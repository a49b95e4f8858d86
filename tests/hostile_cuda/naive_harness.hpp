// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstring>
#include <numeric>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/call_plan.hpp"
#include "evaluator/gpu/candidate_code.hpp"
#include "evaluator/gpu/device_source.hpp"
#include "evaluator/gpu/gpu_worker_client.hpp"
#include "evaluator/gpu/service_source.hpp"
#include "judge/arena.hpp"
#include "kernelsearch/problem/element_access.hpp"

namespace hostile {

using namespace kernelsearch::detail;
using namespace kernelsearch::detail::gpu;

/// A harness as many are written, to show that the kernels of this folder deserve their name. Every mistake
/// is one that published harnesses made: one process for everything, one shape, inputs of ones that stay the
/// same, outputs where the reference has just left its result, the expected result beside them, only the
/// first call compared, NaN equal to everything, errors of launches ignored, the mean of calls that follow
/// one another.
class NaiveHarness {
 public:
  NaiveHarness(const Problem& problem, GpuBackend backend, const GpuOptions& options)
      : problem_(problem),
        backend_(backend),
        options_(options),
        builders_(backend, options),
        memory_(1 << 20, Arena::Writers::both) {
    for (std::size_t s = 0; s < problem.shapes.size(); ++s)
      if (problem.shapes[s].weight > 0) shape_ = s;
  }

  struct Judgement {
    bool accepted = false;
    double mean = 0;      ///< seconds of a call
    bool usable = false;  ///< whether the process still works
  };

  Judgement judge(const Candidate& candidate) {
    // Host code of an earlier one may have done anything to the process, which is no merit of the next.
    if (!worker_ || !worker_->alive() || launches_itself(problem_.kernel)) start();
    const std::vector<std::string> names = launched_kernels(problem_, candidate);
    const Built built = build_candidate(builders_, problem_, candidate, device_, options_);
    Judgement judgement;
    judgement.usable = true;
    if (built.verdict != Verdict::ok) return judgement;
    std::vector<FunctionFacts> facts;
    std::vector<std::int32_t> blocks;
    std::string reason;
    const CallPlan plan = plan_call(problem_, candidate, shape_, candidate_module, names, reason);
    ignore(load_candidate(*worker_, candidate_module, *built.image, built.library, built.functions, facts));
    ignore(worker_->define(candidate_program, plan.program, blocks));
    fill(plan);
    call(reference_program, 1);
    copy_out(plan, expected_offset);
    copy_expected_in(plan, expected_offset);
    fill(plan);
    call(candidate_program, 1);
    copy_out(plan, got_offset);
    fill(plan, Role::inout);
    call(reference_program, 1);
    copy_out(plan, expected_offset);
    judgement.accepted = worker_->alive() && equal(plan);
    judgement.mean = call(candidate_program, 10);
    judgement.usable = worker_->alive();
    return judgement;
  }

 private:
  static constexpr ModuleId reference_module{1}, candidate_module{2};
  static constexpr ProgramId reference_program{1}, candidate_program{2};
  static constexpr std::uint64_t got_offset = 0, expected_offset = 1 << 19;

  static void ignore(const std::optional<WorkerError>&) {}

  void start() {
    worker_ = std::make_unique<GpuWorkerClient>(find_gpu_worker(options_.worker), backend_,
                                                GpuWorkerClient::Role::device, 0, &memory_);
    ignore(worker_->hello(60, device_));
    std::vector<FunctionFacts> facts;
    std::vector<std::int32_t> blocks;
    const auto load = [&](ModuleId module, const std::string& source, const std::vector<std::string>& names) {
      const Built built = builders_.build(source, compile_options(device_, options_, {}), names);
      ignore(worker_->load(module, *built.image, built.functions, facts));
    };
    load(service_module, service_source(backend_), {service_names(), service_names() + service_count});
    load(reference_module, reference_source(problem_, "float"), {problem_.reference.function});
    const CallPlan plan = plan_reference(problem_, shape_, reference_module, false);
    ignore(worker_->define(reference_program, plan.program, blocks));
    IdSource<BufferId> ids;
    buffers_.clear();
    for (const PlannedArgument& planned : plan.arguments.arguments) {
      const Buffers& own = buffers_.emplace_back(Buffers{ids.next(), ids.next(), ids.next()});
      if (planned.is_array)
        for (const BufferId id : {own.data, own.expected, own.widened})
          ignore(worker_->allocate({{id, planned.count * 8}}));
    }
  }

  /// Whether the reference, which is in single precision here, has the array in another buffer.
  [[nodiscard]] static bool is_widened(ElementType type) {
    return is_floating(type) && type != ElementType::f32;
  }

  void fill(const CallPlan& plan, std::optional<Role> only = std::nullopt) {
    std::vector<Action> actions;
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const PlannedArgument& planned = plan.arguments.arguments[a];
      if (!planned.is_input() || (only && planned.role != *only)) continue;
      Argument ones = problem_.arguments[a];
      ones.initialisation = Initialisation::ones;
      actions.emplace_back(fill_action(ones, planned, buffers_[a].data, 42, InputFlavour::declared, false));
      if (!is_widened(ones.type)) continue;
      ones.type = ElementType::f32;
      actions.emplace_back(
          fill_action(ones, planned, buffers_[a].widened, 42, InputFlavour::declared, false));
    }
    Act::Reply done;
    ignore(worker_->act(std::move(actions), 5, done));
  }

  double call(ProgramId program, std::size_t count) {
    CallProgram call{program, true, {}};
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const bool wide = program == reference_program && is_widened(problem_.arguments[a].type);
      call.bindings.emplace_back(wide ? buffers_[a].widened : buffers_[a].data);
    }
    Act::Reply done;
    ignore(worker_->act(std::vector<Action>(count, call), 1, done));
    return done.seconds.empty() ? 0.0
                                : std::accumulate(done.seconds.begin(), done.seconds.end(), 0.0) /
                                      static_cast<double>(done.seconds.size());
  }

  void copy_out(const CallPlan& plan, std::uint64_t offset) {
    std::vector<Action> actions;
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const PlannedArgument& planned = plan.arguments.arguments[a];
      if (!planned.is_output()) continue;
      actions.emplace_back(CopyOut{buffers_[a].data, offset, bytes_of(planned)});
      offset += bytes_of(planned);
    }
    Act::Reply done;
    ignore(worker_->act(std::move(actions), 5, done));
  }

  void copy_expected_in(const CallPlan& plan, std::uint64_t offset) {
    std::vector<Action> actions;
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const PlannedArgument& planned = plan.arguments.arguments[a];
      if (!planned.is_output()) continue;
      actions.emplace_back(CopyIn{buffers_[a].expected, offset, bytes_of(planned)});
      offset += bytes_of(planned);
    }
    Act::Reply done;
    ignore(worker_->act(std::move(actions), 5, done));
  }

  [[nodiscard]] bool equal(const CallPlan& plan) const {
    std::uint64_t offset = 0;
    for (const PlannedArgument& planned : plan.arguments.arguments) {
      if (!planned.is_output()) continue;
      for (std::size_t i = 0; i < planned.count; ++i) {
        const std::size_t at = static_cast<std::size_t>(offset) + i * size_in_bytes(planned.type);
        const double got = load_element(planned.type, memory_.data() + got_offset + at),
                     right = load_element(planned.type, memory_.data() + expected_offset + at);
        if (std::abs(got - right) > 1e-2 + 1e-2 * std::abs(right)) return false;
      }
      offset += bytes_of(planned);
    }
    return true;
  }

  const Problem& problem_;
  GpuBackend backend_;
  GpuOptions options_;
  BuilderPool builders_;
  Arena memory_;
  GpuDevice device_;
  std::unique_ptr<GpuWorkerClient> worker_;
  struct Buffers {
    BufferId data{}, expected{}, widened{};
  };
  std::vector<Buffers> buffers_;  ///< of each argument
  std::size_t shape_ = 0;
};

}  // namespace hostile
