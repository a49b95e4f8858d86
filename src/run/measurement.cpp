// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/measurement.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/code_inspected.hpp"
#include "kernelsearch/evaluator/gpu/gpu_code_inspector.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/evaluator/host/host_code_inspector.hpp"
#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/evaluator/host/host_peaks.hpp"
#include "kernelsearch/evaluator/host/host_sampler.hpp"
#include "kernelsearch/evaluator/profiled.hpp"
#include "kernelsearch/external/command_evaluator.hpp"
#include "kernelsearch/external/external_evaluator.hpp"
#include "kernelsearch/external/module_evaluator.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/run/finalists.hpp"

namespace kernelsearch {
namespace {

/// As many pairs as samples at most; where that is few, in one pair of processes.
PairOptions limited_to(std::size_t samples, PairOptions pairs) {
  if (samples == 0) return pairs;
  pairs.max_pairs = std::min(pairs.max_pairs, samples);
  if (pairs.max_pairs < pairs.min_pairs) pairs.rounds = 1;
  pairs.min_pairs = std::min(pairs.min_pairs, samples);
  return pairs;
}

void set_samples(std::size_t samples, SamplingOptions& sampling, PairOptions& pairs) {
  if (samples == 0) return;
  sampling.min_samples = sampling.max_samples = samples;
  sampling.budget_seconds = 60;  // the number decides, not the time
  pairs = limited_to(samples, pairs);
}

/// Disassemblers keep off the measured core, as compilers do.
ObjectCodeOptions inspecting(const HostOptions& host) {
  ObjectCodeOptions options;
  options.sandbox = host.sandbox;
  for (const int core : host_machine().cores)
    if (core != host.core) options.cores.push_back(core);
  return options;
}

AnyEvaluator made(Problem problem, const MeasurementOptions& options, Pairing pairing) {
  if (has_module_reference(problem)) {
    HostOptions host = host_options(options);
    host.pairs.when = pairing;
    const int device = options.devices.empty() ? 0 : options.devices.front();
    // For any core: the thread that asks is kept off the measured one.
    const HostPeaksOptions cores{.threads = problem.threads, .has_turn = true};
    return ModuleEvaluator(std::move(problem), host, [device, cores](bool on_device) -> DevicePeaks {
      Problem like;
      like.backend = Backend::cuda;
      try {
        return on_device ? device_peaks(like, device) : host_peaks(cores);
      } catch (const ConfigError&) {  // fewer cores than threads
        return {};
      }
    });
  }
  if (has_command_reference(problem)) {
    HostOptions host = host_options(options);
    host.pairs.when = pairing;
    return CommandEvaluator(std::move(problem), std::move(host));
  }
  if (problem.external) return ExternalEvaluator(std::move(problem), host_options(options));
  if (is_gpu(problem.backend)) {
    GpuOptions gpu = gpu_options(options);
    gpu.pairs.when = pairing;
    if (options.inspect && problem.backend == Backend::cuda)
      return CodeInspected<GpuEvaluator, Candidate, GpuCodeInspector>(GpuEvaluator(std::move(problem), gpu),
                                                                      GpuCodeInspector());
    return GpuEvaluator(std::move(problem), gpu);
  }
  HostOptions host = host_options(options);
  host.pairs.when = pairing;
  if (options.inspect) {
    using Inspected = CodeInspected<HostEvaluator, Candidate, HostCodeInspector>;
    HostEvaluator evaluator(std::move(problem), host);
    const ObjectCodeOptions beside = inspecting(evaluator.options());
    HostSampler sampler(evaluator.problem(), evaluator.options(), {.cores = beside.cores});
    return Profiled<Inspected, Candidate, HostSampler>(
        Inspected(std::move(evaluator), HostCodeInspector(beside)), std::move(sampler));
  }
  return HostEvaluator(std::move(problem), host);
}

}  // namespace

std::string cache_mode(const MeasurementOptions& options, Backend backend) {
  if (!options.cache.empty()) return options.cache;
  return is_gpu(backend) ? "cold" : "warm";
}

Sandbox chosen_sandbox(const MeasurementOptions& options) {
  const Sandbox chosen = resolved(sandbox_from(options.sandbox));
  if (options.require_sandbox.empty()) return chosen;
  const Sandbox least = sandbox_from(options.require_sandbox);
  if (least == Sandbox::automatic)
    detail::raise<ConfigError>("a sandbox to require must be named", options.require_sandbox,
                               "require bubblewrap or landlock");
  if (chosen < least)
    detail::raise<ConfigError>("the sandbox is weaker than required",
                               description_of(chosen) + ", required " + std::string(to_string(least)) +
                                   (options.sandbox == "auto" ? ": " + sandbox_status(least).problem : ""),
                               "make the stronger one work (see `kernelsearch doctor`), or require less");
  return chosen;
}

std::vector<std::filesystem::path> readable_folders(const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> folders;
  for (const std::string& name : names) {
    std::error_code error;
    folders.push_back(std::filesystem::canonical(name, error));
    if (error || !std::filesystem::is_directory(folders.back(), error) || folders.back() == "/")
      detail::raise<ConfigError>("a folder that compilers may read is not there, or is everything", name,
                                 "name the folder of a toolchain");
  }
  return folders;
}

PairOptions finalist_pairs(const MeasurementOptions& options) {
  return limited_to(options.samples, FinalistSteps().pairs);
}

HostOptions host_options(const MeasurementOptions& options) {
  HostOptions host;
  host.sandbox = chosen_sandbox(options);
  host.cache = cache_mode(options, Backend::host) == "cold" ? CacheMode::cold : CacheMode::warm;
  host.core = options.core >= 0 ? options.core : host_machine().cores.back();
  host.waits = options.waits;
  host.notes = options.notes;
  host.readable = readable_folders(options.readable);
  set_samples(options.samples, host.sampling, host.pairs);
  PairOptions finalist = FinalistSteps().pairs;
  finalist.rounds = host.finalist_rounds;
  host.finalist_rounds = limited_to(options.samples, finalist).rounds;
  return host;
}

GpuOptions gpu_options(const MeasurementOptions& options) {
  GpuOptions gpu;
  gpu.cache = cache_mode(options, Backend::cuda) == "warm" ? CacheMode::warm : CacheMode::cold;
  gpu.sandbox = chosen_sandbox(options);
  gpu.sandbox_required = !options.require_sandbox.empty();
  gpu.devices = options.devices;
  gpu.build_for = options.build_for;
  gpu.builders = options.jobs;
  gpu.waits = options.waits;
  gpu.notes = options.notes;
  gpu.readable = readable_folders(options.readable);
  set_samples(options.samples, gpu.sampling, gpu.pairs);
  return gpu;
}

void leave_core_to_measuring(int core) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) < 2) return;
  CPU_CLR(static_cast<std::size_t>(core), &set);
  sched_setaffinity(0, sizeof set, &set);
}

AnyEvaluator make_evaluator(Problem problem, const MeasurementOptions& options) {
  return made(std::move(problem), options, Pairing::improved);
}

AnyEvaluator make_pairing_evaluator(Problem problem, const MeasurementOptions& options) {
  return made(std::move(problem), options, Pairing::always);
}

}  // namespace kernelsearch
