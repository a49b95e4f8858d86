// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "learning.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

#include "kernelsearch/recorded/earlier_run.hpp"
#include "kernelsearch/recorded/read_recording.hpp"

namespace kernelsearch::detail {
namespace {

constexpr std::uint64_t fewest_trials = 8;  // fewer say nothing of a space
constexpr std::size_t most_runs = 8;        // of one store

bool is_store(const std::string& source) {
  std::ifstream file(source, std::ios::binary);
  std::string magic(15, '\0');
  return file.read(magic.data(), 15) && magic == "SQLite format 3";
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

std::vector<EarlierRun> earlier_runs(const std::vector<std::string>& sources, const Space& space,
                                     RunObserver& observer) {
  std::vector<std::string> each;
  for (const std::string& source : sources) {
    if (is_store(source)) {
      for (std::string& run : runs_of(RunStore(source), "")) each.push_back(std::move(run));
    } else {
      each.push_back(source);
    }
  }
  std::vector<EarlierRun> runs;
  for (const std::string& source : each) {
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

}  // namespace kernelsearch::detail
