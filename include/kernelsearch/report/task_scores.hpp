// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/measurement.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// What a task of a benchmark came to.
struct TaskScore {
  std::string task;
  std::string state = "not run";  ///< `right`, `wrong`, `refused`, `failed`, `unfinished` or `not run`
  std::string reason = {};        ///< why it is not right, and why the run ended
  std::optional<RunId> run = {};
  std::vector<double> each = {};  ///< speedup of each iteration; 0 where its answer is not right
  std::uint64_t first = 0;        ///< the iteration of `each[0]`
  /// The best right answer against the reference (for a module: PyTorch as it is), `torch.compile` of it and
  /// the baseline that the user named, in pairs; nothing where it was not measured.
  std::optional<Speedup> over_reference = {}, over_compiled = {}, over_baseline = {};
  double seconds = 0;     ///< that the run took
  double memory_mib = 0;  ///< of the largest of its processes; 0: not known
  /// What another harness says of the last answer: text, whether it is right, and its speedup.
  std::string theirs = {};
  std::optional<bool> their_right = {};
  std::optional<double> their_speedup = {};

  [[nodiscard]] bool right() const noexcept { return state == "right"; }
};

/// The speedup of each trial over the reference: the one that was measured in pairs, else the reference's
/// time of the first paired trial over its own; 0 where it is not right or nothing is known of that time.
[[nodiscard]] std::vector<double> trial_speedups(std::span<const StoredTrial> trials);

/// What a stored run came to. `own_kernel` says whether the problem's own kernel counts as an answer: where
/// kernels are written or handed in it does not, as in the papers.
[[nodiscard]] TaskScore score_of_run(const RunStore& store, const RunRow& run, bool own_kernel);

/// Whether candidates of the run are configurations of the problem's own kernel, which is then an answer.
[[nodiscard]] bool only_configurations(const RunRow& run) noexcept;

/// KernelBench's fast_p: the share of tasks whose answer is right and more than `p` times as fast.
struct FastShare {
  double p = 1;
  std::size_t tasks = 0;   ///< that count
  std::size_t faster = 0;  ///< right, and the ratio is above p
  std::size_t sure = 0;    ///< the whole interval of the ratio is above p
  double share = 0;
  Interval interval = {};  ///< 95 %, of the share in tasks like these (Wilson, 1927)
};

/// Against what tasks are compared.
enum class ComparedWith : std::uint8_t { reference, compiled, baseline };
[[nodiscard]] std::string_view to_string(ComparedWith with) noexcept;

/// A right answer that was not compared with that does not count; one that is not right counts as 0.
[[nodiscard]] FastShare fast_share(std::span<const TaskScore> tasks, ComparedWith with, double p);

/// The averages of one speedup for each task, 0 where no answer is right.
struct SpeedupAverages {
  std::size_t tasks = 0;
  double right = 0;           ///< share of the tasks
  double faster = 0;          ///< share above the threshold
  double mean = 0;            ///< of those that are right
  double geometric_mean = 0;  ///< of those that are right
  double best = 0;
};
[[nodiscard]] SpeedupAverages speedup_averages(std::span<const double> speedups, double threshold);

/// An iteration over all tasks: the trial itself, and the best right one up to it. A run that ended earlier
/// keeps its best, and has no trial of its own.
struct IterationScore {
  std::uint64_t iteration = 0;
  std::optional<SpeedupAverages> each;
  SpeedupAverages so_far;
};

/// One score for each iteration named, or for all that any task has. ConfigError without tasks.
[[nodiscard]] std::vector<IterationScore> iteration_scores(std::span<const TaskScore> tasks, double threshold,
                                                           std::span<const std::uint64_t> iterations = {});

/// A benchmark's results, for people and programs.
struct BenchReport {
  std::string title;
  std::vector<TaskScore> tasks;
  double threshold = 1.1;  ///< the speedup that counts as faster in the iterations: KernelBand's Fast@1
  std::vector<std::uint64_t> iterations = {};  ///< to list; empty: all, at most twenty of them
  std::vector<double> curve = {0.5, 0.8, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10};  ///< the p of fast_p
};

[[nodiscard]] std::string bench_text(const BenchReport& report);
[[nodiscard]] std::string bench_markdown(const BenchReport& report);
[[nodiscard]] std::string bench_json(const BenchReport& report);
/// A page that needs nothing from elsewhere and has no script.
[[nodiscard]] std::string bench_html(const BenchReport& report);

}  // namespace kernelsearch
