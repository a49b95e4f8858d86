// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the loop itself costs a trial, without and with the store, as a Markdown table. The evaluator hands
// out a measurement that is ready (3 shapes, 60 samples each), so that nothing but the loop and the store is
// timed.
//   store_bench [folder for the store, default: a temporary one]
//   store_bench --many N [folder]    one run of N trials: what opening it, its best and its record cost

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/evaluator/function_evaluator.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "kernelsearch/store/run_recorder.hpp"

using namespace kernelsearch;

namespace {

constexpr int repeats = 21;
constexpr std::uint64_t trials = 1000;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Kernel kernel() {
  const std::vector<std::int64_t> unrolls{1, 2, 3, 4, 5, 6, 7, 8};
  return {{std::string(2000, ' '), "", ""},
          Space::build({Tunable::power_of_two("TILE_M", 1, 256), Tunable::power_of_two("TILE_N", 1, 256),
                        Tunable::power_of_two("TILE_K", 1, 256), Tunable::integers("UNROLL", unrolls),
                        Tunable::boolean("PACK"), Tunable::permutation("ORDER", 3)},
                       {Constraint("TILE_M * TILE_N <= 4096")})};
}

Evaluation measured() {
  Rng rng(1);
  Evaluation evaluation = Evaluation::succeeded(1.234e-3);
  for (const char* name : {"square", "tall", "odd"}) {
    ShapeMeasurement shape;
    shape.shape = name;
    for (int i = 0; i < 60; ++i) shape.samples.push_back(rng.uniform(1e-3, 2e-3));
    shape.median = 1.5e-3;
    shape.spread = 0.01;
    shape.interval = {1.4e-3, 1.6e-3};
    shape.speedup = Speedup{4.2, {4.1, 4.3}, 30};
    evaluation.measurement.shapes.push_back(shape);
  }
  evaluation.features.set("object_bytes", 8192);
  evaluation.provenance = R"({"compiler":"g++ 12.2","flags":["-O3","-march=native"]})";
  return evaluation;
}

struct Figures {
  std::vector<double> per_trial;  ///< microseconds, one a run
  void print(const char* name, double limit) {
    std::sort(per_trial.begin(), per_trial.end());
    std::printf("| %s | %.2f | %.2f | %g |\n", name, per_trial.front(), per_trial[per_trial.size() / 2],
                limit);
  }
};

/// One run of the loop; `recorder_of` is called with the loop ready to go.
template <class Loop>
double run_once(std::uint64_t seed, const Kernel& tuned, const Evaluation& evaluation, Loop loop) {
  Optimizer search{RandomSearch(tuned.space, {.seed = seed}), TemplateGenerator(tuned),
                   FunctionEvaluator([&](const Candidate&) { return evaluation; })};
  const double begin = now();
  loop(search);
  return (now() - begin) * 1e6 / static_cast<double>(trials);
}

/// Writes one run of so many trials, closes the store, and times what a user waits for when coming back.
void time_many(const std::filesystem::path& file, std::uint64_t count) {
  Evaluation evaluation = Evaluation::succeeded(1e-3);
  RunId run{};
  double begin = now();
  {
    RunStore store(file);
    run = store.begin_run({.name = "many", .problem = "many"});
    Rng rng(1);
    StoredTrial trial;
    trial.point = "[1,2,3]";
    trial.candidate = StoredCandidate{.kernel = "kernel", .config = "[1,2,3]", .key = "1,2,3"};
    const AskEvent ask{1, 1};
    for (std::uint64_t id = 0; id < count; ++id) {
      trial.outcome.id = TrialId{id};
      trial.outcome.origin = Origin{ProposalId{id}};
      evaluation.measurement.seconds = rng.uniform(1e-3, 2e-3);
      trial.outcome.evaluation = evaluation;
      trial.outcome.objective = evaluation.measurement.seconds;
      store.add_trial(run, {&ask, 1}, trial);
    }
  }
  std::printf("%llu trials written in %.1f s, %.0f MiB\n\n", static_cast<unsigned long long>(count),
              now() - begin, static_cast<double>(std::filesystem::file_size(file)) / 1048576.0);
  std::printf("| what | s |\n|---|--:|\n");
  begin = now();
  RunStore store(file);
  std::printf("| open the store | %.4f |\n", now() - begin);
  begin = now();
  const auto rows = store.runs();
  std::printf("| list its runs | %.4f |\n", now() - begin);
  begin = now();
  const auto best = store.best_trial(run);
  std::printf("| the best trial | %.4f |\n", now() - begin);
  begin = now();
  Rng rng(2);
  StoredTrial one;
  one.point = "[1,2,3]";
  one.outcome.id = TrialId{count};
  one.outcome.evaluation = evaluation;
  store.add_trial(run, {}, one);
  std::printf("| the first trial of a resumed run | %.4f |\n", now() - begin);
  begin = now();
  const auto events = store.events(run);
  std::printf("| all %zu events, which a policy is told again | %.4f |\n", events.size(), now() - begin);
  if (rows.size() != 1 || !best) std::abort();
}

/// Times the loop alone, with the store, and with the store waiting for the disk.
void time_trials(const std::filesystem::path& file) {
  const Kernel tuned = kernel();
  const Evaluation evaluation = measured();
  Figures without, with, synced;
  std::vector<double> single;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const auto seed = static_cast<std::uint64_t>(repeat);
    without.per_trial.push_back(
        run_once(seed, tuned, evaluation, [](auto& search) { search.run(MaxTrials{trials}); }));
    for (const bool sync : {false, true}) {
      RunStore store(file, {.sync_every_trial = sync});
      RunRecorder<Config> recorder(store, store.begin_run({.name = "bench"}));
      struct Timed {
        RunRecorder<Config>& inner;
        std::vector<double>* times;
        void on_ask(const AskEvent& event) { inner.on_ask(event); }
        void on_trial(const Trial<Candidate>& trial, const Config& point) {
          const double begin = now();
          inner.on_trial(trial, point);
          if (times != nullptr) times->push_back((now() - begin) * 1e6);
        }
        void on_end(std::string_view reason) { inner.on_end(reason); }
      } timed{recorder, sync ? nullptr : &single};
      (sync ? synced : with).per_trial.push_back(run_once(seed, tuned, evaluation, [&](auto& search) {
        search.run(MaxTrials{trials}, timed);
      }));
    }
  }
  std::printf("%d runs of %llu trials each, 3 shapes of 60 samples a trial; microseconds a trial.\n\n",
              repeats, static_cast<unsigned long long>(trials));
  std::printf("| | minimum | median | wanted at most |\n|---|---|---|---|\n");
  without.print("loop alone", 20);
  with.print("loop with store (survives the death of the process)", 200);
  std::sort(synced.per_trial.begin(), synced.per_trial.end());
  std::printf("| the same, waiting for the disk on every trial (survives power loss) | %.2f | %.2f | |\n",
              synced.per_trial.front(), synced.per_trial[synced.per_trial.size() / 2]);
  std::sort(single.begin(), single.end());
  std::printf("\nOne write: median %.1f, 99%% under %.1f, slowest %.1f (checkpoints of the log).\n",
              single[single.size() / 2], single[single.size() * 99 / 100], single.back());
  std::printf("The file holds %.2f KiB a trial.\n",
              static_cast<double>(std::filesystem::file_size(file)) / 1024.0 / (2.0 * repeats * trials));
}

}  // namespace

int main(int argc, char** argv) {
  const bool many = argc > 2 && std::string_view(argv[1]) == "--many";
  const int folder_at = many ? 3 : 1;
  std::string folder = (std::filesystem::temp_directory_path() / "kernelsearch-bench-XXXXXX").string();
  if (argc > folder_at)
    folder = argv[folder_at];
  else if (mkdtemp(folder.data()) == nullptr)
    return 1;
  const auto file = std::filesystem::path(folder) / "store_bench.db";
  if (many)
    time_many(file, static_cast<std::uint64_t>(std::strtoull(argv[2], nullptr, 10)));
  else
    time_trials(file);
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
  if (argc <= folder_at) std::filesystem::remove(folder);
}
