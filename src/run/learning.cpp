// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "learning.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/policy/move_reward.hpp"
#include "kernelsearch/recorded/earlier_run.hpp"
#include "kernelsearch/recorded/read_recording.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch::detail {
namespace {

constexpr std::uint64_t fewest_trials = 8;  // fewer say nothing of a space
constexpr std::size_t most_runs = 8;        // of one store

constexpr std::size_t most_move_runs = 64;
constexpr std::size_t most_move_examples = 1000;  // KernelBand v1, section 4.2

bool is_store(const std::string& source) {
  std::ifstream file(source, std::ios::binary);
  std::string magic(15, '\0');
  return file.read(magic.data(), 15) && magic == "SQLite format 3";
}

/// `STORE:RUN` taken apart.
std::pair<std::string, std::string> store_and_run(const std::string& source) {
  const std::size_t colon = source.rfind(':');
  if (colon == std::string::npos || colon + 1 == source.size() || !is_store(source.substr(0, colon)))
    raise<ConfigError>("a system learns from moves, which only stores have", source,
                       "name a store, or STORE:RUN");
  return {source.substr(0, colon), source.substr(colon + 1)};
}

/// What a rewrite by one named strategy taught; nothing for other moves, for those whose parent was not
/// right, and for tries without a kernel, which say nothing of the strategy.
std::optional<MoveExample> example_of(const StoredTrial& trial, const std::vector<StoredTrial>& trials) {
  if (trial.outcome.parents.empty() || !has_candidate(trial.outcome.evaluation.verdict)) return std::nullopt;
  const Move move = from_json_text<Move>(trial.point);
  if (move.kind != MoveKind::rewrite || move.strategies.size() != 1) return std::nullopt;
  const auto parent = std::find_if(trials.begin(), trials.end(), [&trial](const StoredTrial& one) {
    return one.outcome.id == trial.outcome.parents.front();
  });
  if (parent == trials.end() || !parent->outcome.ok()) return std::nullopt;
  const auto node = [](const Outcome& outcome) {
    TreeNode made;
    made.verdict = outcome.evaluation.verdict;
    made.objective = outcome.objective;
    made.progress = outcome.evaluation.progress;
    return made;
  };
  return MoveExample{parent->outcome.evaluation.features, move.strategies.front(),
                     MoveReward{}(node(parent->outcome), node(trial.outcome))};
}

}  // namespace

std::vector<std::string> runs_of(const RunStore& store, const std::string& problem) {
  std::vector<std::string> runs;
  for (const RunRow& row : store.runs()) {
    if (runs.size() == most_runs) break;
    if (!row.finished || row.trials < fewest_trials || !row.best) continue;
    if (!problem.empty() && row.info.problem != problem) continue;
    runs.push_back(store.file().string() + ":" + std::to_string(number(row.id)));
  }
  return runs;
}

std::vector<std::string> each_source(const std::vector<std::string>& sources) {
  std::vector<std::string> each;
  const auto add = [&each](std::string source) {
    if (std::find(each.begin(), each.end(), source) == each.end()) each.push_back(std::move(source));
  };
  for (const std::string& source : sources) {
    if (!is_store(source)) {
      add(source);
      continue;
    }
    for (std::string& run : runs_of(RunStore(source, {.only_read = true}), "")) add(std::move(run));
  }
  return each;
}

std::vector<EarlierRun> earlier_runs(const std::vector<std::string>& sources, const Space& space,
                                     RunObserver& observer) {
  std::vector<EarlierRun> runs;
  for (const std::string& source : sources) {
    std::optional<EarlierRun> run = earlier_run(read_recording(source), space);
    if (!run) {
      observer.on_message("nothing to learn from " + source + ": it is of another space");
      continue;
    }
    run->source = source;
    runs.push_back(*std::move(run));
  }
  return runs;
}

std::vector<std::string> move_runs_of(const RunStore& store, const std::string& problem,
                                      const std::string& backend) {
  std::vector<std::string> runs;
  for (const RunRow& row : store.runs()) {
    if (runs.size() == most_move_runs) break;
    if (!row.finished || row.trials < 2 || row.info.evaluator != backend) continue;
    if (!problem.empty() && row.info.problem != problem) continue;
    if (row.info.generator == "template") continue;
    bool moves = false;
    store.each_trial(row.id, [&moves](const StoredTrial& trial) { moves |= !trial.outcome.parents.empty(); });
    if (moves) runs.push_back(store.file().string() + ":" + std::to_string(number(row.id)));
  }
  return runs;
}

std::vector<std::string> each_move_source(const std::vector<std::string>& sources,
                                          const std::string& backend) {
  std::vector<std::string> each;
  const auto add = [&each](std::string source) {
    if (std::find(each.begin(), each.end(), source) == each.end()) each.push_back(std::move(source));
  };
  for (const std::string& source : sources) {
    if (is_store(source)) {
      for (std::string& run : move_runs_of(RunStore(source, {.only_read = true}), "", backend))
        add(std::move(run));
    } else {
      (void)store_and_run(source);
      add(source);
    }
  }
  return each;
}

std::vector<MoveExample> earlier_moves(const std::vector<std::string>& sources, RunObserver& observer) {
  std::vector<MoveExample> examples;
  for (const std::string& source : sources) {
    if (examples.size() >= most_move_examples) break;
    const auto [file, run] = store_and_run(source);
    const RunStore store(file, {.only_read = true});
    const std::optional<RunRow> row = store.find_run(run);
    if (!row)
      raise<ConfigError>("there is no such run to learn from", source,
                         "see `kernelsearch runs --store FILE`");
    const std::vector<StoredTrial> trials = store.trials(row->id);
    for (const StoredTrial& trial : trials) {
      if (examples.size() >= most_move_examples) break;
      if (std::optional<MoveExample> example = example_of(trial, trials))
        examples.push_back(*std::move(example));
    }
  }
  if (!examples.empty())
    observer.on_message("learns from " + std::to_string(examples.size()) + " moves of " +
                        std::to_string(sources.size()) + (sources.size() == 1 ? " run" : " runs"));
  return examples;
}

}  // namespace kernelsearch::detail
