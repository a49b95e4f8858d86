// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/task_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"

namespace kernelsearch {
namespace {

/// The pairs with torch.compile or a baseline, as the evaluator of modules keeps them.
std::optional<Speedup> stored_pairs(const Features& features, const std::string& name) {
  const std::optional<double> ratio = features.find(name);
  if (!ratio) return std::nullopt;
  Speedup speedup;
  speedup.ratio = *ratio;
  // Stores of earlier versions have no interval of torch.compile's: then nothing is sure.
  speedup.interval = {features.find(name + "_low").value_or(0.0),
                      features.find(name + "_high").value_or(std::numeric_limits<double>::infinity())};
  return speedup;
}

/// The best of the trials that are right answers, from `first` on: the run's winner, if it is one of them.
const StoredTrial* best_answer(const RunStore& store, RunId run, std::span<const StoredTrial> answers) {
  const std::optional<StoredTrial> winner = store.best_trial(run);
  const StoredTrial* best = nullptr;
  for (const StoredTrial& trial : answers) {
    if (!trial.outcome.ok()) continue;
    if (winner && trial.position == winner->position) return &trial;
    if (best == nullptr || trial.outcome.objective < best->outcome.objective) best = &trial;
  }
  return best;
}

const std::optional<Speedup>& pairs_of(const TaskScore& task, ComparedWith with) {
  switch (with) {
    case ComparedWith::compiled:
      return task.over_compiled;
    case ComparedWith::baseline:
      return task.over_baseline;
    case ComparedWith::reference:
      break;
  }
  return task.over_reference;
}

/// Wilson's interval of a share (Probable inference, the law of succession, and statistical inference, 1927).
Interval share_interval(std::size_t hits, std::size_t all) {
  constexpr double z = 1.959964;  // 95 %
  const double n = static_cast<double>(all), share = static_cast<double>(hits) / n;
  const double middle = share + z * z / (2 * n);
  const double half = z * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  const double scale = 1 + z * z / n;
  return {std::max(0.0, (middle - half) / scale), std::min(1.0, (middle + half) / scale)};
}

}  // namespace

std::vector<double> trial_speedups(std::span<const StoredTrial> trials) {
  double reference = 0;
  for (const StoredTrial& trial : trials)
    if (const auto& pairs = trial.outcome.evaluation.measurement.speedup; trial.outcome.ok() && pairs) {
      reference = trial.outcome.objective * pairs->ratio;
      break;
    }
  std::vector<double> speedups;
  for (const StoredTrial& trial : trials) {
    const auto& pairs = trial.outcome.evaluation.measurement.speedup;
    speedups.push_back(!trial.outcome.ok() ? 0.0
                       : pairs             ? pairs->ratio
                                           : reference / trial.outcome.objective);
  }
  return speedups;
}

bool only_configurations(const RunRow& run) noexcept {
  return run.info.generator == "template";
}

TaskScore score_of_run(const RunStore& store, const RunRow& run, bool own_kernel) {
  TaskScore score;
  score.task = run.info.problem;
  score.run = run.id;
  score.seconds = run.seconds;
  const std::vector<StoredTrial> trials = store.trials(run.id);
  score.each = trial_speedups(trials);
  score.first = own_kernel ? 0 : 1;
  if (!own_kernel && !score.each.empty()) score.each.erase(score.each.begin());
  const std::span<const StoredTrial> answers =
      std::span(trials).subspan(std::min<std::size_t>(score.first, trials.size()));
  const StoredTrial* best = best_answer(store, run.id, answers);
  if (best != nullptr) {
    const Evaluation& evaluation = best->outcome.evaluation;
    score.state = "right";
    score.over_reference = evaluation.measurement.speedup;
    score.over_compiled = stored_pairs(evaluation.features, "torch.over_compile");
    score.over_baseline = stored_pairs(evaluation.features, "torch.over_baseline");
    return score;
  }
  score.state = !run.finished ? "unfinished" : answers.empty() && !trials.empty() ? "failed" : "wrong";
  const StoredTrial* last = trials.empty() ? nullptr : &trials.back();
  if (last != nullptr && !last->outcome.ok())
    score.reason = clean_text(std::string(to_string(last->outcome.evaluation.verdict)) + ": " +
                              last->outcome.evaluation.reason);
  else
    score.reason = clean_text(answers.empty() ? "there is no answer; " + run.reason : run.reason);
  return score;
}

std::string_view to_string(ComparedWith with) noexcept {
  constexpr std::string_view names[] = {"reference", "torch.compile", "baseline"};
  return names[static_cast<int>(with)];
}

FastShare fast_share(std::span<const TaskScore> tasks, ComparedWith with, double p) {
  FastShare fast;
  fast.p = p;
  for (const TaskScore& task : tasks) {
    const std::optional<Speedup>& pairs = pairs_of(task, with);
    if (task.right() && !pairs) continue;
    ++fast.tasks;
    if (!task.right()) continue;
    fast.faster += pairs->ratio > p ? 1 : 0;
    fast.sure += pairs->ratio > p && pairs->interval.low > p ? 1 : 0;
  }
  if (fast.tasks == 0) return fast;
  fast.share = static_cast<double>(fast.faster) / static_cast<double>(fast.tasks);
  fast.interval = share_interval(fast.faster, fast.tasks);
  return fast;
}

SpeedupAverages speedup_averages(std::span<const double> speedups, double threshold) {
  SpeedupAverages averages;
  averages.tasks = speedups.size();
  double sum = 0, logs = 0;
  std::size_t right = 0, faster = 0;
  for (const double speedup : speedups) {
    if (speedup <= 0) continue;
    ++right;
    sum += speedup;
    logs += std::log(speedup);
    faster += speedup > threshold ? 1 : 0;
    averages.best = std::max(averages.best, speedup);
  }
  if (right == 0) return averages;
  averages.right = static_cast<double>(right) / static_cast<double>(speedups.size());
  averages.faster = static_cast<double>(faster) / static_cast<double>(speedups.size());
  averages.mean = sum / static_cast<double>(right);
  averages.geometric_mean = std::exp(logs / static_cast<double>(right));
  return averages;
}

std::vector<IterationScore> iteration_scores(std::span<const TaskScore> tasks, double threshold,
                                             std::span<const std::uint64_t> iterations) {
  if (tasks.empty())
    detail::raise<ConfigError>("there are no tasks to score", "none",
                               "name a folder of tasks, or runs that are in the store");
  std::vector<std::uint64_t> wanted(iterations.begin(), iterations.end());
  if (wanted.empty()) {
    std::uint64_t first = tasks.front().first, end = 0;
    for (const TaskScore& task : tasks) {
      if (task.each.empty()) continue;
      first = std::min(first, task.first);
      end = std::max<std::uint64_t>(end, task.first + task.each.size());
    }
    for (std::uint64_t at = first; at < end; ++at) wanted.push_back(at);
  }
  std::vector<IterationScore> scores;
  for (const std::uint64_t at : wanted) {
    std::vector<double> each, so_far;
    for (const TaskScore& task : tasks) {
      const std::size_t known = at < task.first ? 0 : at - task.first + 1;  // of its iterations
      if (known > 0 && known <= task.each.size()) each.push_back(task.each[known - 1]);
      const auto end = task.each.begin() + static_cast<std::ptrdiff_t>(std::min(known, task.each.size()));
      so_far.push_back(end == task.each.begin() ? 0.0 : *std::max_element(task.each.begin(), end));
    }
    IterationScore score;
    score.iteration = at;
    if (!each.empty()) score.each = speedup_averages(each, threshold);
    score.so_far = speedup_averages(so_far, threshold);
    scores.push_back(std::move(score));
  }
  return scores;
}

}  // namespace kernelsearch
