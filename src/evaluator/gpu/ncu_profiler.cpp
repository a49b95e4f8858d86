// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/ncu_profiler.hpp"

#include <mutex>

#include "evaluator/gpu/ncu_run.hpp"
#include "evaluator/gpu/replay_target.hpp"
#include "evaluator/gpu/tool.hpp"
#include "kernelsearch/core/error.hpp"
#include "process/scratch_folder.hpp"

namespace kernelsearch {
namespace {

using detail::raise;

std::filesystem::path checked_program(const Problem& problem, const NcuOptions& options) {
  if (problem.backend != Backend::cuda)
    raise<ConfigError>("Nsight Compute profiles CUDA kernels", to_string(problem.backend),
                       "leave profiling out");
  if (const auto program = detail::gpu::find_ncu(options.program)) return *program;
  raise<ConfigError>("Nsight Compute is not there",
                     options.program.empty() ? "ncu" : options.program.string(),
                     "install it, or set KERNELSEARCH_NCU to the program");
}

}  // namespace

struct NcuProfiler::Impl {
  Impl(Problem problem, const GpuOptions& gpu, NcuOptions chosen)
      : program(checked_program(problem, chosen)),
        options(std::move(chosen)),
        cold(gpu.cache == CacheMode::cold),
        metrics(ncu_metrics()),
        target(std::move(problem), gpu) {
    metrics.insert(metrics.end(), options.metrics.begin(), options.metrics.end());
  }

  std::filesystem::path program;
  NcuOptions options;
  bool cold;
  std::vector<std::string> metrics;  // less those that turned out to be unknown
  detail::gpu::ReplayTarget target;
  std::mutex mutex;
};

NcuProfiler::NcuProfiler(Problem problem, GpuOptions gpu, NcuOptions options)
    : impl_(std::make_unique<Impl>(std::move(problem), gpu, std::move(options))) {}
NcuProfiler::NcuProfiler(NcuProfiler&&) noexcept = default;
NcuProfiler& NcuProfiler::operator=(NcuProfiler&&) noexcept = default;
NcuProfiler::~NcuProfiler() = default;

NcuObservation NcuProfiler::observe(const Candidate& candidate) {
  Impl& impl = *impl_;
  const std::scoped_lock lock(impl.mutex);
  NcuObservation seen;
  const auto shape = impl.target.shape(candidate, impl.options.shape, false);
  if (!shape) {
    seen.problem = "`valid` is false for every shape";
    return seen;
  }
  const detail::gpu::Built built = impl.target.build(candidate);
  if (built.verdict != Verdict::ok) {
    seen.problem = built.reason;
    return seen;
  }
  if (built.library) {
    seen.problem = "counters are taken of kernels that the problem launches, not of a launch function's";
    return seen;
  }
  const detail::ScratchFolder scratch;
  const auto file = scratch.path() / "frames";
  detail::gpu::NcuTask task;
  const detail::gpu::ReplayCall call{.shape = *shape, .seed = detail::secret_seed()};
  seen.problem = impl.target.write(candidate, built, call, file, task.count);
  if (!seen.problem.empty()) return seen;
  task.command = impl.target.command(file, false);
  task.kernels = built.functions;
  task.skip = call.warm_up * task.count;
  task.cold = impl.cold;
  task.seconds = impl.options.seconds;
  return detail::gpu::run_ncu(impl.program, task, impl.metrics);
}

Features NcuProfiler::profile(const Candidate& candidate) {
  return observe(candidate).features;
}

}  // namespace kernelsearch
