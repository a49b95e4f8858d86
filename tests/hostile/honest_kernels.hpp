// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/problem/read_problem.hpp"

/// The kernels and problems of tests/hostile, for tests and benches.
namespace honest {

using namespace kernelsearch;

/// A kernel as its file tells it: "// problem: NAME" of a file in honest_problems/, and where it needs them
/// "// threads: 2", "// flags: -O2 -fopenmp" and "// needs: sse2", an x86 processor's feature.
struct JudgedKernel {
  std::string name, source, problem;
  int threads = 1;
  std::string flags, needs;
};

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string() + ": give the folder tests/hostile");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What stands after "// KEY: " in a line of `source`; empty where there is no such line.
inline std::string heading(const std::string& source, const std::string& key) {
  const std::string mark = "\n// " + key + ": ";
  const auto at = source.find(mark);
  if (at == std::string::npos) return {};
  const auto begin = at + mark.size();
  return source.substr(begin, source.find('\n', begin) - begin);
}

inline JudgedKernel read_kernel(const std::filesystem::path& path) {
  JudgedKernel kernel;
  kernel.name = path.stem().string();
  kernel.source = text_of(path);
  kernel.problem = heading(kernel.source, "problem");
  if (kernel.problem.empty()) kernel.problem = "scale";
  if (const auto threads = heading(kernel.source, "threads"); !threads.empty())
    kernel.threads = std::stoi(threads);
  kernel.flags = heading(kernel.source, "flags");
  kernel.needs = heading(kernel.source, "needs");
  return kernel;
}

/// All kernels of a folder, by name.
inline std::vector<JudgedKernel> read_kernels(const std::filesystem::path& folder) {
  std::vector<JudgedKernel> kernels;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".cpp") kernels.push_back(read_kernel(entry.path()));
  std::sort(kernels.begin(), kernels.end(),
            [](const JudgedKernel& a, const JudgedKernel& b) { return a.name < b.name; });
  return kernels;
}

/// The problem of a kernel, with the kernel as its own; `folder` is tests/hostile.
inline Problem problem_of(const JudgedKernel& kernel, const std::filesystem::path& folder) {
  const auto problems = folder / "honest_problems";
  Problem problem = parse_problem(text_of(problems / (kernel.problem + ".json")), problems);
  problem.kernel.regions.device = kernel.source;
  problem.threads = kernel.threads;
  if (!kernel.flags.empty()) {
    problem.build.flags.clear();
    std::istringstream words(kernel.flags);
    for (std::string word; words >> word;) problem.build.flags.push_back(word);
  }
  return problem;
}

inline Candidate candidate_of(const Problem& problem) {
  return {std::make_shared<const Kernel>(problem.kernel), problem.kernel.space.default_config()};
}

/// Why this machine cannot run a kernel; empty where it can.
inline std::string obstacle(const JudgedKernel& kernel) {
  if (static_cast<int>(host_machine().cores.size()) < kernel.threads)
    return "it needs " + std::to_string(kernel.threads) + " cores";
#if defined(__x86_64__)
  if (kernel.needs.empty() || kernel.needs == "sse2") return {};
  return "nobody knows how to ask for " + kernel.needs;
#else
  return kernel.needs.empty() ? "" : "it needs an x86 processor";
#endif
}

/// Settings that judge fast and have patience with a loaded machine.
inline HostOptions light_options(const std::filesystem::path& cache) {
  HostOptions options;
  options.cache_directory = cache;
  options.sampling.budget_seconds = 0.03;
  options.pairs.when = Pairing::never;
  return options;
}

/// A kernel with the evaluator that judges it, built.
struct Built {
  JudgedKernel kernel;
  std::shared_ptr<HostEvaluator> evaluator;
  Staged<HostArtifact> staged;
};

/// Builds kernels with as many compilers at once as there are cores; they are judged one at a time later.
/// Those of one problem share an evaluator, as the candidates of a search do.
inline std::vector<Built> build_all(const std::vector<JudgedKernel>& kernels, const HostOptions& options,
                                    const std::filesystem::path& folder) {
  std::vector<Built> built(kernels.size());
  std::vector<std::exception_ptr> failed(kernels.size());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<HostEvaluator>> evaluators;
  const auto evaluator_of = [&](const JudgedKernel& kernel, const Problem& problem) {
    const std::scoped_lock lock(mutex);
    auto& evaluator = evaluators[kernel.problem + " " + std::to_string(kernel.threads) + " " + kernel.flags];
    if (!evaluator) evaluator = std::make_shared<HostEvaluator>(problem, options);
    return evaluator;
  };
  const auto work = [&] {
    for (std::size_t i; (i = next++) < kernels.size();) try {
        const Problem problem = problem_of(kernels[i], folder);
        built[i].kernel = kernels[i];
        built[i].evaluator = evaluator_of(kernels[i], problem);
        built[i].staged = built[i].evaluator->build(candidate_of(problem), {});
      } catch (...) {
        failed[i] = std::current_exception();
      }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < host_machine().cores.size(); ++i) threads.emplace_back(work);
  threads.clear();
  for (const auto& failure : failed)
    if (failure) std::rethrow_exception(failure);
  return built;
}

/// Judges what was built; it can be judged as often as one likes.
inline Evaluation judge(Built& built) {
  if (!built.staged.artifact) return built.staged.evaluation;
  Staged<HostArtifact> copy;
  copy.artifact = built.staged.artifact;
  copy.evaluation = built.staged.evaluation;
  return built.evaluator->run(std::move(copy), {});
}

/// Whether nothing is said of the kernel, only of the load of the machine.
inline bool not_distinguishable(const Evaluation& evaluation) {
  return evaluation.verdict == Verdict::timed_out &&
         evaluation.reason.find("cannot be told from the load of the machine") != std::string::npos;
}

}  // namespace honest
