// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether plans can be trusted:
//   plans_bench recorded RECORDING... [--reruns N] [--budget TRIALS]
// tunes recorded hardware N times with one seed, each time in a store of its own, and compares the plans
// byte for byte; then N times with N seeds and all configurations, where all but the trials' numbers must
// be equal.
//   plans_bench real PROBLEM [--runs N] [--budget TRIALS] [--seconds LIMIT]
// tunes a problem N times on this machine, exports each plan with pairs measured, and times each of its
// entries against the default configuration once more, in new processes: how often is an entry slower, at
// 95 %?
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/sampling.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/recorded/read_recording.hpp"
#include "kernelsearch/recorded/replay.hpp"
#include "kernelsearch/run/export_plan.hpp"
#include "kernelsearch/run/run.hpp"

using namespace kernelsearch;

namespace {

namespace fs = std::filesystem;

/// A folder for stores, gone at the end.
class Scratch {
 public:
  Scratch() : path_(fs::temp_directory_path() / fmt::format("plans_bench_{}", ::getpid())) {
    fs::create_directories(path_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  [[nodiscard]] fs::path store(std::size_t number) const { return path_ / fmt::format("{}.db", number); }

 private:
  fs::path path_;
};

/// Answers from a recording, as an evaluator of runs. Its pairs are of the recorded samples, one beside the
/// other, which were not taken interleaved: they stand in for pairs where only the arithmetic is looked at.
struct Recorded {
  struct Artifact {
    Candidate candidate;
  };
  Problem about;
  RecordedReplay replay;
  std::string device;

  Staged<Artifact> build(const Candidate& candidate, const EvaluationContext&) const {
    return {{}, Artifact{candidate}};
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) {
    return replay.evaluate(staged.artifact->candidate, context);
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    return evaluate_in_stages(*this, candidate, context);
  }
  [[nodiscard]] std::vector<double> samples(const Candidate& candidate) const {
    const auto at = replay.find(candidate.config);
    if (!at || replay.at(*at).measurement.shapes.empty()) return {};
    return replay.at(*at).measurement.shapes.front().samples;
  }
  [[nodiscard]] std::optional<Speedup> compare(const Candidate& candidate, const Candidate& champion,
                                               const PairOptions&) const {
    PairedTimes times;
    times.candidate = samples(candidate);
    times.reference = samples(champion);
    const std::size_t both = std::min(times.candidate.size(), times.reference.size());
    if (both == 0) return std::nullopt;
    times.candidate.resize(both);
    times.reference.resize(both);
    return paired_speedup(times);
  }
  [[nodiscard]] std::size_t lanes() const { return 1; }
  [[nodiscard]] const Problem& problem() const { return about; }
  [[nodiscard]] std::string device_id() const { return device; }
  [[nodiscard]] std::string toolchain_id() const { return "recorded"; }
};

/// A problem whose kernel has the recorded space. The default is the first configuration that was right.
Problem problem_of(const Recording& recording) {
  Problem problem = parse_problem(
      R"({"schema": 1, "name": "recorded", "function": "recorded",
          "kernel": {"device": {"text": "extern \"C\" void recorded(int n, float* y) { y[0] = n; }"}},
          "arguments": [{"name": "n", "type": "i32"}, {"name": "y", "type": "f32", "size": "n", "role": "out"}],
          "shapes": [{"name": "recorded", "n": 1}], "tunables": {"NONE": [0]},
          "reference": {"function": "r", "source": {"text": "void r(int n, real* y) { y[0] = n; }"}}})",
      ".");
  problem.name = recording.kernel;
  problem.kernel.space = recording.space;
  problem.shapes.front().name =
      recording.trials.empty() || recording.trials.front().evaluation.measurement.shapes.empty()
          ? "recorded"
          : recording.trials.front().evaluation.measurement.shapes.front().shape;
  return problem;
}

/// The plan of one run over a recording.
Plan tuned(const Recording& recording, const Problem& problem, const fs::path& store,
           const RunOptions& options) {
  const auto judge = [&](const Problem& about) {
    return Recorded{about, replay(recording, {.samples = true}), recording.device};
  };
  RunParts parts;
  parts.evaluator = judge(problem);
  RunStore runs(store);
  parts.store = &runs;
  Run run = Run::start(problem, options, std::move(parts));
  run.to_end();
  return export_plan(runs, run.id(), problem,
                     {.measure = [&](const Problem& about) -> AnyEvaluator { return judge(about); }})
      .plan;
}

std::string without_trials(const Plan& plan) {
  std::vector<ProblemPlan> parts = plan.parts();
  for (ProblemPlan& part : parts)
    for (auto* entries : {&part.entries, &part.default_kept})
      for (PlanEntry& entry : *entries) entry.trial = 0;
  return Plan(std::move(parts)).text();
}

int recorded(const std::vector<std::string>& files, std::size_t reruns, const std::string& budget) {
  const Scratch scratch;
  std::size_t number = 0;
  bool good = true;
  fmt::print(
      "| recording | runs of one seed | different plans | entry | runs of {} seeds over all | different |\n",
      reruns);
  fmt::print("|---|---|---|---|---|---|\n");
  for (const std::string& file : files) {
    const Recording recording = read_recording(file);
    const Problem problem = problem_of(recording);
    std::map<std::string, std::size_t> same, seeds;
    std::string entry;
    for (std::size_t i = 0; i < reruns; ++i) {
      const Plan plan =
          tuned(recording, problem, scratch.store(number++),
                {.policy = "bayesian", .budget = budget, .seed = 1, .measurement = {.jobs = 4}});
      ++same[plan.text()];
      const ProblemPlan& part = plan.parts().front();
      entry = part.entries.empty()
                  ? "the default"
                  : fmt::format("{:.2f}x (from {:.2f})", part.entries.front().over_default->ratio,
                                part.entries.front().over_default->interval.low);
    }
    for (std::size_t i = 0; i < reruns; ++i)
      ++seeds[without_trials(tuned(recording, problem, scratch.store(number++),
                                   {.policy = "random",
                                    .budget = std::to_string(recording.trials.size()),
                                    .seed = i + 1,
                                    .measurement = {.jobs = 4}}))];
    fmt::print("| {} | {} | {} | {} | {} | {} |\n", recording.name, reruns, same.size(), entry, reruns,
               seeds.size());
    good = good && same.size() == 1 && seeds.size() == 1;
  }
  return good ? 0 : 1;
}

int real(const std::string& folder, std::size_t runs, const std::string& budget, double limit) {
  const Problem problem = read_problem(folder);
  const Scratch scratch;
  const auto began = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  std::size_t done = 0, entries = 0, kept = 0, faster = 0, unclear = 0, slower = 0;
  for (std::size_t i = 0; i < runs && elapsed() < limit; ++i) {
    RunStore store(scratch.store(i));
    RunParts parts;
    parts.store = &store;
    Run run = Run::start(problem, {.policy = "random", .budget = budget, .seed = i + 1, .learn = false},
                         std::move(parts));
    run.to_end();
    const PlanExport made = export_plan(store, run.id(), problem, {.measure = measuring_on({})});
    ++done;
    const ProblemPlan& part = made.plan.parts().front();
    kept += part.default_kept.size();
    const auto kernel = std::make_shared<const Kernel>(problem.kernel);
    for (const PlanEntry& entry : part.entries) {
      ++entries;
      Problem one = problem;
      for (Shape& shape : one.shapes)
        if (shape.variables != entry.shape) shape.weight = 0;
      std::vector<Value> values;
      for (const auto& [name, value] : entry.values) values.push_back(value);
      AnyEvaluator evaluator = make_evaluator(one, {});
      const Speedup again = evaluator
                                .compare({kernel, kernel->space.config_of(values).value()},
                                         {kernel, kernel->space.default_config()},
                                         {.when = Pairing::always,
                                          .min_pairs = 24,
                                          .max_pairs = 400,
                                          .precision = 0.004,
                                          .budget_seconds = 2,
                                          .rounds = 4})
                                .value();
      (again.interval.low > 1 ? faster : again.interval.high < 1 ? slower : unclear) += 1;
      fmt::print("run {} {}: {:.3f}x ({:.3f} to {:.3f}) in the plan, {:.3f}x ({:.3f} to {:.3f}) again\n",
                 i + 1, to_string(entry.shape.front().second), entry.over_default->ratio,
                 entry.over_default->interval.low, entry.over_default->interval.high, again.ratio,
                 again.interval.low, again.interval.high);
      std::fflush(stdout);
    }
  }
  fmt::print(
      "\n{} runs of {} trials in {:.0f} s: {} entries, default kept {} times; measured again: {} faster, {} "
      "not to be told "
      "from the default, {} slower\n",
      done, budget, elapsed(), entries, kept, faster, unclear, slower);
  return slower == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> files;
  std::size_t count = 100;
  std::string budget = "60";
  double limit = 1e9;
  const std::string mode = argc > 1 ? argv[1] : "";
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if ((word == "--reruns" || word == "--runs") && i + 1 < argc)
      count = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--budget" && i + 1 < argc)
      budget = argv[++i];
    else if (word == "--seconds" && i + 1 < argc)
      limit = std::strtod(argv[++i], nullptr);
    else
      files.push_back(word);
  }
  if (mode == "recorded" && !files.empty()) return recorded(files, count, budget);
  if (mode == "real" && files.size() == 1) return real(files.front(), count, budget, limit);
  fmt::print(stderr,
             "usage: plans_bench recorded RECORDING... [--reruns N] [--budget TRIALS]\n"
             "       plans_bench real PROBLEM [--runs N] [--budget TRIALS] [--seconds LIMIT]\n");
  return 2;
} catch (const Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 3;
}
