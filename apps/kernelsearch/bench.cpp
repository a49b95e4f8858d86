// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "devices_option.hpp"
#include "input.hpp"
#include "interrupt.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/problem/file_word.hpp"
#include "kernelsearch/report/render_report.hpp"
#include "kernelsearch/report/task_scores.hpp"
#include "kernelsearch/run/bench_tasks.hpp"
#include "kernelsearch/run/other_harness.hpp"
#include "kernelsearch/run/run.hpp"
#include "kernelsearch/run/run_option.hpp"
#include "kernelsearch/systems/system_options.hpp"
#include "kernelsearch/systems/system_registry.hpp"
#include "progress.hpp"
#include "run_flags.hpp"
#include "store_access.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

struct BenchCommand {
  std::vector<fs::path> paths;
  std::vector<std::string> runs, devices;
  std::string answers, harness, format = "text";
  bool itself = false, quiet = false;
  std::size_t parallel = 1;
  double task_limit = 0, harness_limit = 600;
  double faster = 1.1;
  std::vector<std::uint64_t> iterations;
  RunOptions run;

  [[nodiscard]] bool searches() const { return answers.empty() && !itself; }
};

/// `FOLDER SYSTEM`: of what begins anew when it changes.
std::string bench_name(const BenchCommand& command) {
  if (!command.run.name.empty()) return command.run.name;
  const auto name_of = [](const fs::path& path) {
    const fs::path whole = fs::absolute(path).lexically_normal();
    return (whole.filename().empty() ? whole.parent_path() : whole).filename().string();
  };
  const RunOptions& o = command.run;
  std::string how = command.itself              ? "itself"
                    : !command.answers.empty()  ? name_of(command.answers)
                    : !o.system.empty()         ? o.system
                    : !o.policy_command.empty() ? o.policy_command
                                                : o.policy;
  if (!o.system_options.empty()) how += " " + o.system_options;
  if (o.seed != 0) how += fmt::format(" seed {}", o.seed);
  return fmt::format("{} {}", name_of(command.paths.front()), how);
}

struct BenchPlan {
  std::string name;
  fs::path out, store;
  std::vector<BenchTask> tasks;
  std::vector<std::vector<fs::path>> answers;  // of each task
  std::size_t without = 0;                     // tasks that have none
};

/// Before hours of work: what is written below OUT goes nowhere else.
void refuse_links_in(const fs::path& out) {
  for (const char* name : {"index.html", "bench.md", "bench.json", "winners", "harness"})
    own_place((out / name).string(), "remove it, or name another folder with --out");
}

BenchPlan plan_of(const BenchCommand& command) {
  BenchPlan plan;
  plan.name = bench_name(command);
  plan.out =
      command.run.out.empty()
          ? fs::path(own_place(file_word(plan.name) + "_bench", "remove it, or name it yourself with --out"))
          : command.run.out;
  refuse_links_in(plan.out);
  plan.store = command.run.store.empty() ? RunStore::default_path() : command.run.store;
  for (BenchTask& task : find_bench_tasks(command.paths)) {
    std::vector<fs::path> answers;
    if (!command.answers.empty()) answers = bench_answers(task, command.answers);
    if (!command.answers.empty() && answers.empty()) {
      ++plan.without;
      continue;
    }
    plan.tasks.push_back(std::move(task));
    plan.answers.push_back(std::move(answers));
  }
  if (plan.tasks.empty())
    detail::raise<ConfigError>("no task has an answer in this folder", command.answers,
                               "name answers as their tasks: TASK.py, TASK.cpp or TASK.cu");
  return plan;
}

/// The options of a task's run in a lane.
RunOptions lane_options(const BenchCommand& command, const BenchPlan& plan, const BenchTask& task,
                        const Problem& problem, std::size_t lane) {
  RunOptions options = command.run;
  const std::vector<int> cores = host_machine().cores;
  MeasurementOptions& measurement = options.measurement;
  if (command.parallel > 1 && measurement.core < 0)
    measurement.core = cores[cores.size() - 1 - lane % cores.size()];
  if (command.parallel > 1 && measurement.jobs == 0)
    measurement.jobs = static_cast<unsigned>(std::max<std::size_t>(1, cores.size() / command.parallel));
  if (!command.devices.empty())
    measurement.devices = ordinals_of("--devices", {command.devices[lane % command.devices.size()]}, problem);
  options.out = command.searches()
                    ? fs::path(own_place((plan.out / "winners" / file_word(task.name)).string(),
                                         "remove it, or name another folder with --out"))
                    : fs::path();
  options.store.clear();
  return options;
}

/// Works on a task; what is to be told of it.
json worked_on(const BenchCommand& command, const BenchPlan& plan, std::size_t at, std::size_t lane) {
  const BenchTask& task = plan.tasks[at];
  const Interrupt interrupt;
  Messages messages(command.quiet, task.name + ": ");
  json told{{"state", "failed"}, {"own", command.itself}};
  try {
    Problem problem = read_any_problem(task.path);
    RunStore store(plan.store);
    BenchRun how;
    how.name = plan.name + ": " + task.name;
    how.search = command.searches();
    how.answers = plan.answers[at];
    how.options = lane_options(command, plan, task, problem, lane);
    const BenchEnd end =
        run_bench_task(problem, task.path, std::move(how),
                       {.store = &store, .stop = interrupt.token(), .observer = &messages}, messages);
    told["run"] = number(end.run);
    told["state"] = end.stopped ? "stopped" : "done";
    told["trials"] = end.trials;
    told["own"] =
        command.itself || end.own_kernel || (command.searches() && only_configurations(store.run(end.run)));
    if (!command.harness.empty() && !plan.answers[at].empty() && !end.stopped) {
      const fs::path kept = plan.out / "harness" / (file_word(task.name) + ".json");
      const HarnessSays says = ask_harness(command.harness, task.path, plan.answers[at].back(), kept,
                                           command.harness_limit, interrupt.token());
      told["theirs"] = says.text;
      if (says.right) told["their_right"] = *says.right;
      if (says.speedup) told["their_speedup"] = *says.speedup;
    }
  } catch (const ConfigError& error) {
    told["state"] = "refused";
    told["reason"] = error.what();
  } catch (const std::exception& error) {
    told["reason"] = error.what();
  }
  return told;
}

struct BenchLane {
  pid_t pid = -1;
  int from = -1;
  std::size_t task = 0;
  Clock::time_point begun, asked;
  bool late = false, stopping = false, alone = false;
};

BenchLane started(const BenchCommand& command, const BenchPlan& plan, std::size_t task, std::size_t lane) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    detail::raise<DeviceError>("no pipe can be made", "", "close programs that hold many files");
  std::fflush(stdout);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0)
    detail::raise<DeviceError>("no process can be started", "", "end programs, or use fewer --parallel");
  if (pid == 0) {
    // A process for each task: one that takes all memory or crashes ends no other, and each has its own peak.
    ::setpgid(0, 0);  // Ctrl-C is for the parent, which passes it on once
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(1);
    const std::string told =
        worked_on(command, plan, task, lane).dump(-1, ' ', false, json::error_handler_t::replace);
    std::size_t done = 0;
    while (done < told.size()) {
      const ssize_t wrote = ::write(ends[1], told.data() + done, told.size() - done);
      if (wrote <= 0) break;
      done += static_cast<std::size_t>(wrote);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  return {pid, ends[0], task, Clock::now(), {}};
}

std::string all_of(int from) {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(from, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(from);
  return text;
}

/// What the process of a task told, and what the store has of its run.
TaskScore score_of(const BenchPlan& plan, const BenchLane& lane, const std::string& text, int status,
                   const rusage& used, double limit) {
  TaskScore score;
  const json told = json::parse(text, nullptr, false);
  if (!told.is_object()) {
    score.state = "failed";
    score.reason = lane.late ? fmt::format("ended after its limit of {:g} s", limit)
                   : WIFSIGNALED(status)
                       ? fmt::format("its process was ended by signal {}", WTERMSIG(status))
                       : fmt::format("its process ended with exit code {}", WEXITSTATUS(status));
  } else if (told.contains("run")) {
    const RunStore store(plan.store);
    score = score_of_run(store, store.run(RunId{told["run"].get<std::int64_t>()}), told.value("own", false));
    if (told["state"] == "stopped") {
      score.state = "unfinished";
      score.reason = lane.late ? fmt::format("stopped after its limit of {:g} s", limit) : "stopped";
    }
    if (told.contains("reason"))
      score.reason += (score.reason.empty() ? "" : "; ") + told.value("reason", "");
    score.theirs = told.value("theirs", "");
    if (told.contains("their_right")) score.their_right = told["their_right"].get<bool>();
    if (told.contains("their_speedup")) score.their_speedup = told["their_speedup"].get<double>();
    if (score.their_right && score.theirs.empty()) score.theirs = *score.their_right ? "right" : "wrong";
    if (score.their_speedup) score.theirs += fmt::format(" ({:.3g}x)", *score.their_speedup);
  } else {
    score.state = told.value("state", "failed");
    score.reason = told.value("reason", "");
    constexpr std::string_view prefix = "kernelsearch: ";
    if (score.reason.rfind(prefix, 0) == 0) score.reason.erase(0, prefix.size());
  }
  score.task = plan.tasks[lane.task].name;
  // If a task was finished before, this process only looked at the store.
  if (!told.is_object() || told.value("trials", 0) > 0)
    score.memory_mib = static_cast<double>(used.ru_maxrss) / 1024;
  return score;
}

void say(const TaskScore& score, std::size_t done, std::size_t all) {
  const std::string what =
      score.right() && score.over_reference
          ? fmt::format("right, {:.3g} times as fast ({:.3g} to {:.3g})", score.over_reference->ratio,
                        score.over_reference->interval.low, score.over_reference->interval.high)
          : score.state + (score.reason.empty() ? "" : ": " + score.reason);
  print_clean(stderr, "{}/{} {}: {}\n", done, all, score.task, what);
}

/// Whether a task had too little memory, of a device or of the host, in the words of PyTorch, CUDA and libc.
bool lacked_memory(const TaskScore& score) {
  if (score.state != "refused" && score.state != "failed") return false;
  for (const std::string_view words : {"out of memory", "OutOfMemory", "Cannot allocate memory", "bad_alloc"})
    if (score.reason.find(words) != std::string::npos) return true;
  return false;
}

/// All tasks in lanes, each in a process; those that a stop left out are `not run`. A task that lacked memory
/// while others ran is tried again when all others have ended.
std::vector<TaskScore> work(const BenchCommand& command, const BenchPlan& plan, const Interrupt& interrupt) {
  std::vector<TaskScore> scores;
  for (const BenchTask& task : plan.tasks) {
    scores.emplace_back();
    scores.back().task = task.name;
  }
  std::map<std::size_t, BenchLane> lanes;
  std::vector<std::size_t> again;
  std::size_t next = 0, done = 0;
  const auto ask_to_stop = [](BenchLane& lane) {
    if (std::exchange(lane.stopping, true)) return;
    ::kill(lane.pid, SIGTERM);
    lane.asked = Clock::now();
  };
  while (!lanes.empty() || ((next < plan.tasks.size() || !again.empty()) && !interrupt.requested())) {
    if (lanes.empty() && next == plan.tasks.size()) {
      lanes.emplace(0, started(command, plan, again.back(), 0)).first->second.alone = true;
      again.pop_back();
    }
    for (std::size_t lane = 0; lane < command.parallel; ++lane)
      if (!lanes.count(lane) && next < plan.tasks.size() && !interrupt.requested()) {
        lanes.emplace(lane, started(command, plan, next, lane));
        ++next;
      }
    for (auto at = lanes.begin(); at != lanes.end();) {
      BenchLane& lane = at->second;
      int status = 0;
      rusage used{};
      if (::wait4(lane.pid, &status, WNOHANG, &used) == lane.pid) {
        scores[lane.task] = score_of(plan, lane, all_of(lane.from), status, used, command.task_limit);
        if (command.parallel > 1 && !lane.alone && lacked_memory(scores[lane.task])) {
          if (!command.quiet)
            print_clean(stderr, "{}: too little memory while other tasks run; again when they have ended\n",
                        scores[lane.task].task);
          again.push_back(lane.task);
          at = lanes.erase(at);
          continue;
        }
        ++done;
        if (!command.quiet) say(scores[lane.task], done, plan.tasks.size());
        at = lanes.erase(at);
        continue;
      }
      const std::chrono::duration<double> worked = Clock::now() - lane.begun;
      if (command.task_limit > 0 && worked.count() > command.task_limit) lane.late = true;
      if (lane.late || interrupt.requested()) ask_to_stop(lane);
      // Longer than any candidate takes to be ended; the store has all that was told.
      if (lane.stopping && Clock::now() - lane.asked > std::chrono::seconds(60)) ::kill(lane.pid, SIGKILL);
      ++at;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return scores;
}

void write_pages(const BenchReport& report, const fs::path& out) {
  std::error_code error;
  fs::create_directories(out, error);
  write_report(out / "index.html", bench_html(report));
  write_report(out / "bench.md", bench_markdown(report));
  write_report(out / "bench.json", bench_json(report));
}

void print(const BenchReport& report, const std::string& format) {
  if (format == "json")
    print_exact(bench_json(report));
  else
    print_clean("{}", format == "md" ? bench_markdown(report) : bench_text(report));
}

int score_runs(const BenchCommand& command) {
  if (!command.run.out.empty()) refuse_links_in(command.run.out);
  const RunStore store = open_store_to_read(command.run.store.string());
  BenchReport report;
  report.title = fmt::format("{} runs of {}", command.runs.size(), store.file().filename().string());
  for (const std::string& name : command.runs) {
    const RunRow row = require_run(store, name);
    report.tasks.push_back(score_of_run(store, row, only_configurations(row)));
  }
  report.threshold = command.faster;
  report.iterations = command.iterations;
  print(report, command.format);
  if (!command.run.out.empty()) write_pages(report, command.run.out);
  return success;
}

int bench(const BenchCommand& command) {
  if (!command.runs.empty()) return score_runs(command);
  const Interrupt interrupt;
  const BenchPlan plan = plan_of(command);
  if (plan.without > 0)
    print_clean(stderr, "{} tasks have no answer in {} and are left out\n", plan.without, command.answers);
  { const RunStore store(plan.store); }  // made before the lanes, which would all make it
  BenchReport report;
  report.tasks = work(command, plan, interrupt);
  report.title =
      plan.name +
      (plan.without > 0 ? fmt::format(" (without {} tasks that have no answer)", plan.without) : "");
  report.threshold = command.faster;
  report.iterations = command.iterations;
  print(report, command.format);
  write_pages(report, plan.out);
  if (!command.quiet) print_clean(stderr, "see {}\n", (plan.out / "index.html").string());
  if (interrupt.requested()) return interrupted;
  const bool any = std::any_of(report.tasks.begin(), report.tasks.end(),
                               [](const TaskScore& task) { return task.right(); });
  return any ? success : nothing_found;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand(
      "bench", "Work on a folder of tasks, by a system or with answers of others, and compute fast_p");
  auto o = std::make_shared<BenchCommand>();
  sub->add_option("FOLDER", o->paths,
                  "Folders of tasks (problem folders, modules and other tasks in Python), or tasks");
  sub->add_option("--answers", o->answers,
                  "Judge the files of this folder instead of searching: TASK.py, TASK.cpp or TASK.cu, or "
                  "KernelBench's level_1_problem_19_sample_0_kernel.py")
      ->check(CLI::ExistingDirectory);
  sub->add_flag("--itself", o->itself, "Judge each task's own kernel as its answer")->excludes("--answers");
  sub->add_option("--harness", o->harness,
                  "A command that is also asked about each task's last answer, as COMMAND TASK ANSWER, "
                  "without a sandbox; it prints {\"right\": true, \"speedup\": 1.2}")
      ->needs("--answers");
  sub->add_option("--harness-limit", o->harness_limit, "Seconds within which that command must end")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub->add_option("--parallel", o->parallel,
                  "Tasks at a time; each has a processor core of its own to measure on, and one of --devices")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  sub->add_option("--task-limit", o->task_limit, "Seconds after which a task is stopped; 0: never")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_option("--runs", o->runs, "Compute the figures of these runs of the store, one for each task")
      ->delimiter(',')
      ->excludes("--answers")
      ->excludes("--itself");
  sub->add_option("--faster", o->faster, "The speedup that counts as faster in the table of iterations")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub->add_option("--iterations", o->iterations, "Only these iterations; default all, at most twenty of them")
      ->delimiter(',');
  sub->add_option("--format", o->format, "What is printed")
      ->check(CLI::IsMember({"text", "md", "json"}))
      ->capture_default_str();
  sub->add_flag("-q,--quiet", o->quiet, "No progress on stderr");
  add_run_flags(*sub, o->run);
  const RunOption& devices = **try_find_run_option("devices");
  sub->add_option(devices.command_flag(), o->devices, "GPUs, one for each lane in turn")
      ->delimiter(',')
      ->group(std::string(heading_of(devices.group)));
  sub->footer(
      "A benchmark that was killed goes on when the same command is given again.\n"
      "Examples:\n"
      "  kernelsearch bench examples/host --policy bayesian --budget 30\n"
      "  kernelsearch bench KernelBench/level1 --system stark --models models.json --budget 31 --devices "
      "0,1 --parallel 2\n"
      "  kernelsearch bench KernelBench --answers runs/mine --parallel 4\n"
      "  kernelsearch bench examples/torch --itself\n"
      "  kernelsearch bench --runs 3,4,5 --iterations 0,3,6,9");
  sub->callback([o, &exit_code] {
    if (o->paths.empty() == o->runs.empty())
      throw CLI::ValidationError("FOLDER", o->paths.empty() ? "name a folder of tasks, or --runs"
                                                            : "runs are in the store: leave out FOLDER");
    if (!o->run.record.empty())
      throw CLI::ValidationError("--record",
                                 "each task would write the same file: use `kernelsearch export`");
    split_system(o->run);
    exit_code = bench(*o);
  });
}

}  // namespace kernelsearch::app
