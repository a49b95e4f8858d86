// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/bench_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/run/measurement.hpp"
#include "kernelsearch/run/measurement_context.hpp"
#include "kernelsearch/run/narrowed_space.hpp"
#include "kernelsearch/run/run_lock.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "problem/problem_parts.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;

/// A folder that is one task.
bool is_task_folder(const fs::path& folder) {
  for (const char* file : {"problem.json", "definition.json", "task.yml", "config.yaml"})
    if (fs::is_regular_file(folder / file)) return true;
  return false;
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (const std::string name = entry.path().filename().string(); name[0] != '.' && name[0] != '_')
      entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

void add_task(const fs::path& path, const fs::path& root, std::vector<BenchTask>& tasks) {
  const fs::path relative = path == root ? path.filename() : path.lexically_relative(root);
  const bool file = !fs::is_directory(path);
  tasks.push_back({(file ? fs::path(relative).replace_extension() : relative).generic_string(), path});
}

/// `extension`: of the files that are tasks.
void add_tasks(const fs::path& folder, const fs::path& root, std::string_view extension,
               std::vector<BenchTask>& tasks) {
  if (is_task_folder(folder)) return add_task(folder, root, tasks);
  if (fs::is_directory(folder / "definitions"))
    return add_tasks(folder / "definitions", root, ".json", tasks);
  const std::vector<fs::path> entries = sorted_entries(folder);
  const std::size_t before = tasks.size();
  for (const fs::path& entry : entries) {
    const bool is_folder = fs::is_directory(entry);
    if (is_folder ? is_task_folder(entry) : entry.extension() == extension) add_task(entry, root, tasks);
  }
  if (tasks.size() > before) return;
  // Links are not followed: a folder of others may have two that lead back to it, and paths without end.
  for (const fs::path& entry : entries)
    if (fs::is_directory(entry) && !fs::is_symlink(entry)) add_tasks(entry, root, extension, tasks);
}

std::string text_of_answer(const fs::path& file) {
  std::optional<std::string> text = try_whole_file(file);
  if (!text)
    detail::raise<ConfigError>("an answer cannot be read", file.string(),
                               "check the file and its permissions");
  return *std::move(text);
}

/// `level_1_problem_19_sample_` of the task `level1/19_Name`; empty where it has no such name.
std::string sample_prefix(const BenchTask& task) {
  const fs::path name = task.name;
  const std::string level = name.parent_path().filename().string(), file = name.filename().string();
  const std::size_t digits = file.find_first_not_of("0123456789");
  if (level.rfind("level", 0) != 0 || digits == 0 || digits == std::string::npos || file[digits] != '_')
    return "";
  return fmt::format("level_{}_problem_{}_sample_", level.substr(5), file.substr(0, digits));
}

/// What the store knows a run of this problem by.
std::string digest_of(const Problem& problem, const RunOptions& options) {
  Problem whole = problem;
  whole.kernel.space = narrowed(whole.kernel.space, options.where);
  if (!options.configs.empty()) whole.kernel.space = listed_in(whole.kernel.space, options.configs);
  fill_generated_sizes(whole, host_options(options.measurement));
  return measurement_digest(whole, cache_mode(options.measurement, problem.backend));
}

/// Whether a run began with the problem's kernel as it is now, which is in no digest of the problem.
bool began_with(const RunStore& store, RunId run, const Problem& problem) {
  const std::optional<StoredTrial> first = store.trial(run, TrialId{0});
  if (!first || !first->candidate) return true;
  const std::optional<StoredKernel> kernel = store.kernel(first->candidate->kernel);
  return !kernel || kernel->device == problem.kernel.regions.device;
}

/// Whether the search of a run came to its end, with the budget that is asked for.
bool is_finished(const RunRow& run, const RunOptions& options) {
  for (const char* early : {"stopped", "paused", "begun", "waiting"})
    if (run.reason.rfind(early, 0) == 0) return false;
  const nlohmann::json stored = nlohmann::json::parse(run.info.options, nullptr, false);
  const bool as_asked =
      options.budget.empty() || !stored.is_object() || stored.value("budget", "") == options.budget;
  return run.finished.has_value() && as_asked;
}

/// Those of the texts that no trial of the run has as its kernel.
std::vector<std::string> not_judged(std::vector<std::string> texts, const RunStore& store, RunId run) {
  store.each_trial(run, [&](const StoredTrial& trial) {
    if (!trial.candidate) return;
    if (const auto kernel = store.kernel(trial.candidate->kernel)) std::erase(texts, kernel->device);
  });
  return texts;
}

}  // namespace

std::vector<BenchTask> find_bench_tasks(std::span<const fs::path> paths) {
  std::vector<BenchTask> tasks;
  for (const fs::path& given : paths) {
    const fs::path path = given.filename().empty() ? given.parent_path() : given;  // of `FOLDER/`
    if (!fs::exists(path))
      detail::raise<ConfigError>("no such file or folder", path.string(),
                                 "name a folder of tasks, or a task");
    const std::size_t before = tasks.size();
    if (fs::is_directory(path))
      add_tasks(path, path, ".py", tasks);
    else
      add_task(path, path, tasks);
    if (tasks.size() == before)
      detail::raise<ConfigError>(
          "there are no tasks in this folder", path.string(),
          "name one with problem folders, modules (.py), definition.json, task.yml or config.yaml");
  }
  for (auto task = tasks.begin(); task != tasks.end(); ++task)
    if (std::any_of(tasks.begin(), task, [&](const BenchTask& other) { return other.name == task->name; }))
      detail::raise<ConfigError>("two tasks have the same name", task->name,
                                 "name the folder that both are in, and their names have their folders");
  return tasks;
}

std::vector<fs::path> bench_answers(const BenchTask& task, const fs::path& folder) {
  constexpr std::array extensions{".py", ".cpp", ".cc", ".c", ".cu", ".cl", ".hip"};
  std::vector<fs::path> answers;
  const fs::path name = task.name;
  for (const fs::path& place : {folder / name, folder / name.filename()}) {
    if (!answers.empty()) break;
    for (const char* extension : extensions)
      if (const fs::path file = place.string() + extension; fs::is_regular_file(file))
        answers.push_back(file);
  }
  if (const std::string prefix = sample_prefix(task); !prefix.empty())
    for (const fs::path& entry : sorted_entries(folder))
      if (entry.filename().string().rfind(prefix, 0) == 0 && entry.extension() == ".py" &&
          fs::is_regular_file(entry))
        answers.push_back(entry);
  // What is read as an answer is kept in the store and shown on pages.
  for (const fs::path& answer : answers)
    if (!detail::path_inside(folder, fs::absolute(answer)))
      detail::raise<ConfigError>("an answer is a link out of its folder", answer.string(),
                                 "put the file there, or name the folder that it is in");
  return answers;
}

BenchEnd run_bench_task(const Problem& problem, const fs::path& path, BenchRun how, RunParts parts,
                        RunObserver& observer) {
  RunStore& store = *parts.store;
  std::vector<std::string> texts;
  for (const fs::path& answer : how.answers) texts.push_back(text_of_answer(answer));
  const bool own = std::erase(texts, problem.kernel.regions.device) > 0;
  RunOptions& options = how.options;
  options.name = how.name;
  if (!how.search) {
    options.policy = "submit";
    options.suggest = "none";
    options.budget = "all";
    options.system.clear();
  }
  std::optional<RunRow> earlier;
  for (RunRow& row :
       store.runs({.name = how.name, .problem_digest = digest_of(problem, options), .limit = 1}))
    earlier = std::move(row);
  if (earlier && !began_with(store, earlier->id, problem)) earlier.reset();
  if (earlier) {
    if (RunLock::holder(store.file(), earlier->id))
      detail::raise<ConfigError>("another process works on this run",
                                 fmt::format("run {}, {}", number(earlier->id), how.name),
                                 "wait for it, or give this benchmark another --name");
    if (!how.search) texts = not_judged(std::move(texts), store, earlier->id);
    const bool done = how.search ? is_finished(*earlier, options) : earlier->trials > 0 && texts.empty();
    if (done) return {earlier->id, false, own, 0};
  }
  parts.problem_path = path;
  if (earlier) parts.problem = problem;
  Run run = earlier ? Run::resume(std::to_string(number(earlier->id)), options, std::move(parts))
                    : Run::start(problem, options, std::move(parts));
  const std::uint64_t before = store.run(run.id()).trials;
  run.to_end(observer);
  if (!how.search)
    for (const std::string& text : texts) {
      if (run.spent()) break;
      Submission answer;
      answer.device = text;
      answer.parent = TrialId{0};
      if (!run.submit(answer, observer)) break;
    }
  const RunResult result = run.finish();
  return {run.id(), result.stopped, own, static_cast<std::size_t>(store.run(run.id()).trials - before)};
}

}  // namespace kernelsearch
