// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/observing_evaluator.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/code_inspected.hpp"
#include "kernelsearch/evaluator/gpu/gpu_code_inspector.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/evaluator/gpu/gpu_roofline.hpp"
#include "kernelsearch/evaluator/gpu/ncu_profiler.hpp"
#include "kernelsearch/evaluator/host/host_code_inspector.hpp"
#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/evaluator/host/host_roofline.hpp"
#include "kernelsearch/evaluator/host/host_sampler.hpp"
#include "kernelsearch/evaluator/profiled.hpp"
#include "kernelsearch/evaluator/then.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/problem/text_features.hpp"
#include "kernelsearch/problem/traits.hpp"

namespace kernelsearch {
namespace {

/// All that is observed of a right candidate after it was measured.
struct Observe {
  Features traits;
  std::shared_ptr<const Problem> problem;
  CountedRoofline counted;
  std::shared_ptr<NcuProfiler> profiler = nullptr;  ///< one profile at a time is its own matter
  std::shared_ptr<HostSampler> sampler = nullptr;

  void operator()(const Candidate& candidate, Evaluation& evaluation) const {
    for (const auto& [name, value] : traits) evaluation.features.set(name, value);
    for (const auto& [name, value] : text_features(*problem, *candidate.kernel))
      evaluation.features.set(name, value);
    if (profiler)
      for (const auto& [name, value] : profiler->profile(candidate)) evaluation.features.set(name, value);
    if (sampler)
      for (const auto& [name, value] : sampler->profile(candidate)) evaluation.features.set(name, value);
    counted(candidate, evaluation);
  }
};

template <class E, class Inspector>
AnyEvaluator observed(E evaluator, Inspector inspector, Observe step) {
  using Inspected = CodeInspected<E, Candidate, Inspector>;
  return Then<Inspected, Candidate, Observe>(Inspected(std::move(evaluator), std::move(inspector)),
                                             std::move(step));
}

template <class E, class Inspector>
AnyEvaluator counting(E evaluator, Inspector inspector, CountedRoofline step) {
  using Inspected = CodeInspected<E, Candidate, Inspector>;
  return Then<Inspected, Candidate, CountedRoofline>(Inspected(std::move(evaluator), std::move(inspector)),
                                                     std::move(step));
}

/// Disassemblers and samplers run next to what is being measured, not on its core.
std::vector<int> other_cores(const HostOptions& host) {
  std::vector<int> cores;
  for (const int core : host_machine().cores)
    if (core != host.core) cores.push_back(core);
  return cores;
}

ObjectCodeOptions beside(const HostOptions& host) {
  return {.sandbox = host.sandbox, .cores = other_cores(host)};
}

HostSampler sampler_beside(const HostEvaluator& evaluator) {
  return HostSampler(evaluator.problem(), evaluator.options(), {.cores = other_cores(evaluator.options())});
}

}  // namespace

ObservingEvaluator make_observing_evaluator(Problem problem, const MeasurementOptions& options) {
  std::vector<std::string> missing;
  if (problem.external)
    return {make_evaluator(std::move(problem), options),
            {"what an external program builds is not looked into"}};
  if (is_gpu(problem.backend)) {
    const GpuOptions gpu = gpu_options(options);
    GpuEvaluator evaluator(problem, gpu);
    Observe step{trait_features(problem), std::make_shared<const Problem>(problem), gpu_roofline(evaluator)};
    if (problem.backend == Backend::cuda) {
      try {
        step.profiler = std::make_shared<NcuProfiler>(problem, gpu);
        // Whether this user may read the counters is only found out by reading them.
        (void)step.profiler->observe(problem.default_candidate());
      } catch (const ConfigError& error) {
        step.profiler = nullptr;
        missing.emplace_back(error.what());
      }
    } else {
      missing.emplace_back("there is no profiler for " + std::string(to_string(problem.backend)) +
                           ": gaps come from counted work alone");
    }
    return {observed(std::move(evaluator), GpuCodeInspector(), std::move(step)), std::move(missing)};
  }
  HostEvaluator evaluator(problem, host_options(options));
  Observe step{trait_features(problem), std::make_shared<const Problem>(problem), host_roofline(evaluator)};
  if (!problem.operations || !problem.bytes)
    missing.emplace_back("the problem declares no operations or no bytes: its gaps are unknown");
  const ObjectCodeOptions code = beside(evaluator.options());
  step.sampler = std::make_shared<HostSampler>(sampler_beside(evaluator));
  if (find_objdump().empty())
    missing.emplace_back("there is no objdump: nothing can be proven in machine code");
  return {observed(std::move(evaluator), HostCodeInspector(code), std::move(step)), std::move(missing)};
}

AnyEvaluator make_inspecting_evaluator(Problem problem, const MeasurementOptions& options) {
  if (problem.external) return make_evaluator(std::move(problem), options);
  if (is_gpu(problem.backend)) {
    GpuEvaluator evaluator(std::move(problem), gpu_options(options));
    CountedRoofline counted = gpu_roofline(evaluator);
    if (evaluator.problem().backend == Backend::cuda)
      return counting(std::move(evaluator), GpuCodeInspector(), std::move(counted));
    return Then<GpuEvaluator, Candidate, CountedRoofline>(std::move(evaluator), std::move(counted));
  }
  HostEvaluator evaluator(std::move(problem), host_options(options));
  CountedRoofline counted{evaluator.problem(), {}};
  try {
    counted = host_roofline(evaluator);
  } catch (const ConfigError&) {  // fewer cores than threads: there are no peaks of so many
  }
  HostCodeInspector inspector(beside(evaluator.options()));
  HostSampler sampler = sampler_beside(evaluator);
  return Profiled<AnyEvaluator, Candidate, HostSampler>(
      counting(std::move(evaluator), std::move(inspector), std::move(counted)), std::move(sampler));
}

}  // namespace kernelsearch
