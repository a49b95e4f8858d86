// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstring>
#include <numeric>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/call_plan.hpp"
#include "evaluator/gpu/device_source.hpp"
#include "evaluator/gpu/gpu_worker.hpp"
#include "evaluator/gpu/service_source.hpp"
#include "evaluator/host/arena.hpp"
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
        memory_(1 << 20) {
    for (std::size_t s = 0; s < problem.shapes.size(); ++s)
      if (problem.shapes[s].weight > 0) shape_ = s;
  }

  struct Judgement {
    bool accepted = false;
    double mean = 0;      ///< seconds of a call
    bool usable = false;  ///< whether the process still works
  };

  Judgement judge(const std::string& code) {
    if (!worker_ || !worker_->alive()) start();
    Kernel kernel = problem_.kernel;
    kernel.regions.device = code;
    const Candidate candidate{std::make_shared<const Kernel>(std::move(kernel)),
                              problem_.kernel.space.default_config()};
    const std::vector<std::string> names = launched_kernels(problem_, candidate);
    const Built built =
        builders_.build(device_source(candidate), compile_options(device_, options_, {}), names);
    Judgement judgement;
    judgement.usable = true;
    if (built.verdict != Verdict::ok) return judgement;
    std::vector<FunctionFacts> facts;
    std::vector<std::int32_t> blocks;
    std::string reason;
    const CallPlan plan = plan_call(problem_, candidate, shape_, candidate_module, names, reason);
    ignore(worker_->load(candidate_module, *built.image, built.functions, facts));
    ignore(worker_->program(candidate_module, plan.program, blocks));
    fill(plan);
    call(reference_module, 1);
    copy(plan, Act::out, expected_offset);
    copy(plan, Act::in, expected_offset, expected);
    fill(plan);
    call(candidate_module, 1);
    copy(plan, Act::out, got_offset);
    fill(plan, Role::inout);
    call(reference_module, 1);
    copy(plan, Act::out, expected_offset);
    judgement.accepted = worker_->alive() && equal(plan);
    judgement.mean = call(candidate_module, 10);
    judgement.usable = worker_->alive();
    return judgement;
  }

 private:
  static constexpr std::uint32_t reference_module = 1, candidate_module = 2, expected = 100, widened = 200;
  static constexpr std::uint64_t got_offset = 0, expected_offset = 1 << 19;

  static void ignore(const std::optional<WorkerError>&) {}

  void start() {
    worker_ = std::make_unique<GpuWorker>(find_gpu_worker(options_.worker), backend_, GpuWorker::Role::device,
                                          0, &memory_);
    ignore(worker_->hello(60, device_));
    std::vector<FunctionFacts> facts;
    std::vector<std::int32_t> blocks;
    const auto load = [&](std::uint32_t module, const std::string& source,
                          const std::vector<std::string>& names) {
      const Built built = builders_.build(source, compile_options(device_, options_, {}), names);
      ignore(worker_->load(module, *built.image, built.functions, facts));
    };
    load(0, service_source(), {service_names(), service_names() + service_count});
    load(reference_module, reference_source(problem_, "float"), {problem_.reference.function});
    const CallPlan plan = plan_reference(problem_, shape_, reference_module, false);
    ignore(worker_->program(reference_module, plan.program, blocks));
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a)
      for (const std::uint32_t first : {0u, expected, widened})
        if (const PlannedArgument& planned = plan.arguments.arguments[a]; planned.is_array)
          ignore(worker_->allocate({first + static_cast<std::uint32_t>(a)}, {planned.count * 8}));
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
      const auto number = static_cast<std::uint32_t>(a);
      actions.push_back(fill_action(ones, planned, number, 42, InputFlavour::declared, false));
      if (!is_widened(ones.type)) continue;
      ones.type = ElementType::f32;
      actions.push_back(fill_action(ones, planned, widened + number, 42, InputFlavour::declared, false));
    }
    GpuWorker::Done done;
    ignore(worker_->act(actions, {}, 5, done));
  }

  double call(std::uint32_t program, std::size_t count) {
    std::vector<std::uint32_t> bindings(problem_.arguments.size());
    std::iota(bindings.begin(), bindings.end(), 0u);
    for (std::uint32_t& number : bindings)
      if (program == reference_module && is_widened(problem_.arguments[number].type)) number += widened;
    Action action;
    action.kind = Act::timed_call;
    action.program = program;
    action.bindings = static_cast<std::uint32_t>(bindings.size());
    GpuWorker::Done done;
    ignore(worker_->act(std::vector<Action>(count, action), bindings, 1, done));
    return done.seconds.empty() ? 0.0
                                : std::accumulate(done.seconds.begin(), done.seconds.end(), 0.0) /
                                      static_cast<double>(done.seconds.size());
  }

  void copy(const CallPlan& plan, Act kind, std::uint64_t offset, std::uint32_t first = 0) {
    std::vector<Action> actions;
    for (std::size_t a = 0; a < problem_.arguments.size(); ++a) {
      const PlannedArgument& planned = plan.arguments.arguments[a];
      if (!planned.is_output()) continue;
      Action action;
      action.kind = kind;
      action.buffer = first + static_cast<std::uint32_t>(a);
      action.count = bytes_of(planned);
      action.word = offset;
      offset += action.count;
      actions.push_back(action);
    }
    GpuWorker::Done done;
    ignore(worker_->act(actions, {}, 5, done));
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
  std::unique_ptr<GpuWorker> worker_;
  std::size_t shape_ = 0;
};

}  // namespace hostile
