// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "kernelsearch/agents/method_registry.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/evaluator/gpu/gpu_roofline.hpp"
#include "kernelsearch/evaluator/host/host_peaks.hpp"
#include "kernelsearch/service/skill_report.hpp"
#include "kernelsearch/service/skill_settings.hpp"
#include "kernelsearch/systems/cuda_skill_v2.hpp"
#include "system_run.hpp"

namespace kernelsearch::app {
namespace {

/// What this machine's device is, as far as methods ask.
MethodDevice method_device(const std::string& backend, const std::vector<int>& devices) {
  MethodDevice device;
  if (backend == "host") {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
      if (line.rfind("flags", 0) != 0) continue;
      std::istringstream words(line.substr(std::min(line.size(), line.find(':') + 1)));
      const std::set<std::string> flags{std::istream_iterator<std::string>(words), {}};
      for (const auto& [flag, feature] :
           {std::pair("sse2", "sse2"), std::pair("avx", "avx"), std::pair("avx2", "avx2"),
            std::pair("avx512f", "avx512"), std::pair("fma", "fma"), std::pair("f16c", "f16c")})
        if (flags.contains(flag)) device.features.emplace_back(feature);
      break;
    }
    return device;
  }
  if (backend != "cuda") return device;
  for (const GpuDevice& gpu : gpu_status(GpuBackend::cuda).devices)
    if (!devices.empty() && gpu.ordinal == devices.front())
      device.architecture = static_cast<unsigned>(gpu.major * 10 + gpu.minor);
  device.features = features_of_architecture(device.architecture);
  return device;
}

}  // namespace

DevicePeaks peaks_of(const Problem& problem, int device) {
  if (problem.backend == "host") return host_peaks({.threads = problem.threads});
  for (const GpuDevice& gpu :
       gpu_status(problem.backend == "hip" ? GpuBackend::hip : GpuBackend::cuda).devices)
    if (gpu.ordinal == device) return gpu_peaks(gpu);
  return {};
}

RooflineBudgetOptions skill_search(const TuneOptions& o, const Problem& problem) {
  std::vector<Method> methods = read_methods(problem.backend, o.methods);
  if (!o.skill.empty()) return read_skill_settings(o.skill, std::move(methods));
  RooflineBudgetOptions search;
  search.methods = std::move(methods);
  search.iterations = o.iterations;
  search.branches = o.branches;
  search.rewrites = o.rewrites;
  search.pairs = o.pairs;
  search.noise = o.noise;
  search.from_frontier = o.from_frontier;
  search.device = method_device(problem.backend, o.devices);
  return search;
}

RunSummary run_skill(SystemRun& run, SystemJudge judge) {
  const TuneOptions& o = run.options();
  systems::CudaSkillV2Settings settings;
  settings.search = skill_search(o, run.problem);
  settings.search.seed = o.seed;
  settings.loop = run.loop;
  const RooflineBudgetOptions search = settings.search;
  RunSummary summary;
  if (o.from_files.empty()) {
    settings.writer.common = agents_of(run);
    summary = drive(systems::cuda_skill_v2(run.models.model, run.problem, std::move(judge), settings), run,
                    lookup_for(run));
  } else {
    // One file after the other: who writes them is told of one at a time, and may look at what came of it.
    settings.loop.generate_threads = 1;
    settings.files.folder = o.from_files;
    settings.files.wait_seconds = o.wait;
    settings.files.stop = run.interrupt.token();
    settings.files.say = [quiet = o.quiet](const std::string& words) {
      if (!quiet) fmt::print(stderr, "{}\n", words);
    };
    summary = drive(systems::cuda_skill_v2(run.problem, std::move(judge), settings), run, lookup_for(run));
  }
  const std::filesystem::path folder =
      !o.from_files.empty() ? std::filesystem::path(o.from_files)
                            : std::filesystem::path(o.out.empty() ? run.problem.name + "_tuned" : o.out) /
                                  fmt::format("run_{}", number(run.run));
  write_skill_report(run.store, run.run, run.problem, replayed_skill(run.store, run.run, search), folder,
                     peaks_of(run.problem, o.devices.empty() ? 0 : o.devices.front()));
  if (!o.quiet) fmt::print(stderr, "report in {}\n", (folder / "summary.md").string());
  return summary;
}

}  // namespace kernelsearch::app
