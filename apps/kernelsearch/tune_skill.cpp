// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>

#include "kernelsearch/agents/method_registry.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/evaluator/gpu/gpu_roofline.hpp"
#include "kernelsearch/evaluator/host/host_peaks.hpp"
#include "kernelsearch/evaluator/paired_with_parent.hpp"
#include "kernelsearch/systems/cuda_skill_v2/cuda_skill_v2.hpp"
#include "kernelsearch/systems/cuda_skill_v2/skill_report.hpp"
#include "kernelsearch/systems/cuda_skill_v2/skill_settings.hpp"
#include "system_run.hpp"

namespace kernelsearch::app {
namespace {

/// What this machine's device is, as far as methods ask.
MethodDevice method_device(Backend backend, const std::vector<int>& devices) {
  MethodDevice device;
  if (backend == Backend::host) {
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
  if (backend != Backend::cuda) return device;
  for (const GpuDevice& gpu : gpu_status(GpuBackend::cuda).devices)
    if (!devices.empty() && gpu.ordinal == devices.front())
      device.architecture = static_cast<unsigned>(gpu.major * 10 + gpu.minor);
  device.features = features_of_architecture(device.architecture);
  return device;
}

/// Each child beside its parent, of whichever run it was handed in.
using SkillJudge = PairedWithParent<SystemJudge>;

SkillJudge beside_parents(SystemJudge judge, const SystemRun& run) {
  auto codec = std::make_shared<CandidateCodec<Candidate>>(lookup_for(run));
  auto mutex = std::make_shared<std::mutex>();
  // What earlier parts of a resumed run judged is in the store alone.
  return SkillJudge(
      std::move(judge), {},
      [&store = run.store, id = run.run, codec, mutex](TrialId trial) -> std::optional<Candidate> {
        const std::scoped_lock lock(*mutex);
        const auto stored = store.trial(id, trial);
        if (!stored || !stored->candidate) return std::nullopt;
        return codec->decode(*stored->candidate);
      });
}

struct SkillFinalists {
  template <class Search, class... Observers>
  void operator()(Search& search, const std::stop_token& stop, const FinalistSteps& steps,
                  Observers&... observers) const {
    measure_finalists_again(search, search.evaluator().inner().inner(), stop, steps, observers...);
  }
};

}  // namespace

DevicePeaks peaks_of(const Problem& problem, int device) {
  if (problem.backend == Backend::host) return host_peaks({.threads = problem.threads});
  for (const GpuDevice& gpu :
       gpu_status(problem.backend == Backend::hip ? GpuBackend::hip : GpuBackend::cuda).devices)
    if (gpu.ordinal == device) return gpu_peaks(gpu);
  return {};
}

RooflineBudgetOptions skill_search(const TuneOptions& o, const Problem& problem) {
  std::vector<Method> methods = read_methods(to_string(problem.backend), o.methods);
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
  SkillJudge paired = beside_parents(std::move(judge), run);
  RunSummary summary;
  if (o.from_files.empty()) {
    settings.writer.common = agents_of(run);
    summary = drive(systems::cuda_skill_v2(run.models.model, run.problem, std::move(paired), settings), run,
                    lookup_for(run), SkillFinalists{});
  } else {
    // One file after the other: who writes them is told of one at a time, and may look at what came of it.
    settings.loop.generate_threads = 1;
    settings.files.folder = o.from_files;
    settings.files.wait_seconds = o.wait;
    settings.files.stop = run.interrupt.token();
    settings.files.say = [quiet = o.quiet](const std::string& words) {
      if (!quiet) fmt::print(stderr, "{}\n", words);
    };
    summary = drive(systems::cuda_skill_v2(run.problem, std::move(paired), settings), run, lookup_for(run),
                    SkillFinalists{});
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
