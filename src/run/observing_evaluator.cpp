// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/observing_evaluator.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "../service/grounded.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/code_inspected.hpp"
#include "kernelsearch/evaluator/gpu/gpu_code_inspector.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/evaluator/gpu/gpu_roofline.hpp"
#include "kernelsearch/evaluator/gpu/ncu_profiler.hpp"
#include "kernelsearch/evaluator/host/host_code_inspector.hpp"
#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/evaluator/host/host_roofline.hpp"
#include "kernelsearch/evaluator/host/machine.hpp"
#include "kernelsearch/evaluator/then.hpp"
#include "kernelsearch/problem/traits.hpp"

namespace kernelsearch {
namespace {

/// All that is observed of a right candidate after it was measured.
struct Observe {
  Features traits;
  CountedRoofline counted;
  std::shared_ptr<NcuProfiler> profiler = nullptr;  ///< one profile at a time is its own matter

  void operator()(const Candidate& candidate, Evaluation& evaluation) const {
    for (const auto& [name, value] : traits) evaluation.features.set(name, value);
    if (profiler)
      for (const auto& [name, value] : profiler->profile(candidate)) evaluation.features.set(name, value);
    counted(candidate, evaluation);
  }
};

template <class Base, class Inspector>
AnyEvaluator observed(std::shared_ptr<Base> base, Inspector inspector, Observe step) {
  using Inspected = CodeInspected<detail::Held<Base>, Candidate, Inspector>;
  using Decorated = Then<Inspected, Candidate, Observe>;
  return detail::Grounded<Decorated, Base>{
      Decorated(Inspected(detail::Held<Base>{base}, std::move(inspector)), std::move(step)), base};
}

}  // namespace

ObservingEvaluator make_observing_evaluator(Problem problem, const MeasuringOptions& options) {
  std::vector<std::string> missing;
  if (problem.backend == "cuda" || problem.backend == "hip") {
    const GpuOptions gpu = gpu_options(options);
    auto base = std::make_shared<GpuEvaluator>(problem, gpu);
    Observe step{trait_features(problem), gpu_roofline(*base)};
    if (problem.backend == "cuda") {
      try {
        step.profiler = std::make_shared<NcuProfiler>(problem, gpu);
        // Whether this user may read the counters is only found out by reading them.
        (void)step.profiler->observe(problem.default_candidate());
      } catch (const ConfigError& error) {
        step.profiler = nullptr;
        missing.emplace_back(error.what());
      }
    } else {
      missing.emplace_back("there is no profiler for HIP: gaps come from counted work alone");
    }
    return {observed(std::move(base), GpuCodeInspector(), std::move(step)), std::move(missing)};
  }
  auto base = std::make_shared<HostEvaluator>(problem, host_options(options));
  Observe step{trait_features(problem), host_roofline(*base)};
  if (!problem.operations || !problem.bytes)
    missing.emplace_back("the problem declares no operations or no bytes: its gaps are unknown");
  const HostOptions& host = base->options();
  ObjectCodeOptions code;
  code.sandbox = host.sandbox;
  for (const int core : host_machine().cores)  // not beside what is being measured
    if (core != host.core) code.cores.push_back(core);
  if (find_objdump().empty())
    missing.emplace_back("there is no objdump: nothing can be proven in machine code");
  return {observed(std::move(base), HostCodeInspector(code), std::move(step)), std::move(missing)};
}

}  // namespace kernelsearch
