// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks with a Python reference (docs/torch.md, docs/tasks.md): is each accepted as its own answer, and how
// fast is it compared with itself, or what is an answer of a folder worth.
//   torch_bench [--answers FOLDER] [--rounds 2] [--pairs 40] [--repeat 1] [--jobs 1] [--seconds 120]
//               [--sandbox auto] [--csv FILE] TASK|FOLDER|@LIST...
// @LIST names a file with a task a line. With --answers, only tasks with FOLDER/NAME.py are judged. Every
// task is judged in a process of its own, --jobs of them at a time, and ended after --seconds. Ends with 1 if
// a task is not right.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/external/module_evaluator.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "process/process.hpp"

namespace fs = std::filesystem;
using namespace kernelsearch;

namespace {

struct Asked {
  fs::path answers, csv;
  std::size_t rounds = 2, pairs = 40;
  int repeat = 1, jobs = 1, seconds = 120;
  Sandbox sandbox = Sandbox::automatic;
  std::vector<fs::path> tasks;
};

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A task's name, and those of its folder and the folder above: names repeat.
std::string name_of(const fs::path& task) {
  return (task.parent_path().filename() / task.filename()).string();
}

std::string quoted(std::string text) {
  std::replace(text.begin(), text.end(), '"', '\'');
  std::replace(text.begin(), text.end(), '\n', ' ');
  return '"' + text + '"';
}

constexpr const char* columns =
    "task,verdict,ratio,low,high,pairs,call_us,start_s,candidate_s,all_s,host_mib,said";

/// A line of the table.
std::string judged(const Asked& asked, const fs::path& task, int core) {
  const double begin = detail::monotonic_seconds();
  HostOptions options;
  options.sandbox = asked.sandbox;
  options.core = core;
  options.pairs.when = Pairing::never;
  options.sampling.budget_seconds = 0.2;
  std::string said;
  options.notes = [&](std::string_view note) { said.append(note).append("; "); };
  const auto row = [&](std::string_view verdict, const Speedup& speedup, double call, double start,
                       double candidate) {
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    return fmt::format("{},{},{:.4g},{:.4g},{:.4g},{},{:.5g},{:.2f},{:.2f},{:.1f},{},{}", name_of(task),
                       verdict, speedup.ratio, speedup.interval.low, speedup.interval.high, speedup.pairs,
                       call * 1e6, start, candidate, detail::monotonic_seconds() - begin,
                       used.ru_maxrss / 1024, quoted(said));
  };
  try {
    auto evaluator = std::make_unique<ModuleEvaluator>(read_problem(task), options);
    const double start = detail::monotonic_seconds() - begin;
    const Candidate itself = evaluator->problem().default_candidate();
    Candidate candidate = itself;
    if (!asked.answers.empty()) {
      Kernel kernel;
      kernel.regions.device = text_of(asked.answers / task.filename());
      candidate = {std::make_shared<const Kernel>(std::move(kernel)), {}};
    }
    Evaluation evaluation;
    double best = INFINITY;
    for (int i = 0; i < asked.repeat; ++i) {  // the first one waits for the server of candidates to start
      const double before = detail::monotonic_seconds();
      evaluation = evaluator->evaluate(candidate, {});
      best = std::min(best, detail::monotonic_seconds() - before);
    }
    said += evaluation.reason;
    Speedup speedup;
    if (evaluation.verdict == Verdict::ok && asked.rounds > 0) {
      PairOptions pairs;
      pairs.rounds = asked.rounds;
      pairs.max_pairs = asked.pairs;
      pairs.min_pairs = std::min(pairs.min_pairs, asked.pairs);
      speedup = evaluator->compare(candidate, itself, pairs);
    }
    std::string line =
        row(to_string(evaluation.verdict), speedup, evaluation.measurement.seconds, start, best);
    evaluator.reset();
    return line;
  } catch (const ConfigError& error) {
    said += error.what();
    return row("refused", {}, 0, 0, 0);
  } catch (const Error& error) {
    said += error.what();
    return row("failed", {}, 0, 0, 0);
  }
}

struct Child {
  fs::path task;
  int slot = 0, descriptor = -1;
  double begin = 0;
};

std::string rest_of(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(descriptor, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  close(descriptor);
  return text;
}

void add_tasks(const std::string& word, std::vector<fs::path>& tasks) {
  if (word.starts_with('@')) {
    std::ifstream list(word.substr(1));
    for (std::string line; std::getline(list, line);)
      if (!line.empty()) tasks.emplace_back(line);
    return;
  }
  if (!fs::is_directory(word) || fs::exists(fs::path(word) / "task.yml") ||
      fs::exists(fs::path(word) / "definition.json")) {
    tasks.emplace_back(word);
    return;
  }
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(word))
    if (entry.path().extension() == ".py") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  tasks.insert(tasks.end(), found.begin(), found.end());
}

Asked read_words(int count, char** words) {
  Asked asked;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const bool more = i + 1 < count;
    if (word == "--answers" && more)
      asked.answers = words[++i];
    else if (word == "--csv" && more)
      asked.csv = words[++i];
    else if (word == "--rounds" && more)
      asked.rounds = std::strtoul(words[++i], nullptr, 10);
    else if (word == "--pairs" && more)
      asked.pairs = std::max(2ul, std::strtoul(words[++i], nullptr, 10));
    else if (word == "--repeat" && more)
      asked.repeat = std::max(1, std::atoi(words[++i]));
    else if (word == "--jobs" && more)
      asked.jobs = std::max(1, std::atoi(words[++i]));
    else if (word == "--seconds" && more)
      asked.seconds = std::max(1, std::atoi(words[++i]));
    else if (word == "--sandbox" && more)
      asked.sandbox = sandbox_from(words[++i]);
    else
      add_tasks(std::string(word), asked.tasks);
  }
  if (!asked.answers.empty())
    std::erase_if(asked.tasks,
                  [&](const fs::path& task) { return !fs::exists(asked.answers / task.filename()); });
  return asked;
}

/// Field `at` of a line.
std::string field(const std::string& line, int at) {
  std::size_t begin = 0;
  for (; at > 0; --at) begin = line.find(',', begin) + 1;
  return line.substr(begin, line.find(',', begin) - begin);
}

}  // namespace

int main(int count, char** words) {
  const Asked asked = read_words(count, words);
  if (asked.tasks.empty()) {
    fmt::print(stderr, "no task: name files, folders or @LIST\n");
    return 2;
  }
  const std::vector<int> cores = host_machine().cores;
  std::FILE* const csv = asked.csv.empty() ? nullptr : std::fopen(asked.csv.c_str(), "w");
  const auto print = [&](const std::string& line) {
    for (std::FILE* out : {stdout, csv}) {
      if (out == nullptr) continue;
      fmt::print(out, "{}\n", line);
      std::fflush(out);
    }
  };
  print(columns);
  std::map<pid_t, Child> running;
  std::vector<double> ratios;
  std::size_t next = 0, right = 0, within = 0;
  std::vector<bool> taken(static_cast<std::size_t>(asked.jobs));
  while (next < asked.tasks.size() || !running.empty()) {
    while (next < asked.tasks.size() && running.size() < taken.size()) {
      Child child;
      child.task = asked.tasks[next++];
      child.slot = static_cast<int>(std::find(taken.begin(), taken.end(), false) - taken.begin());
      child.begin = detail::monotonic_seconds();
      taken[static_cast<std::size_t>(child.slot)] = true;
      int pipe[2];
      if (::pipe2(pipe, O_CLOEXEC) != 0) return 2;
      const pid_t pid = fork();
      if (pid == 0) {
        const std::string line = judged(
            asked, child.task, cores[cores.size() - 1 - static_cast<std::size_t>(child.slot) % cores.size()]);
        const bool written = write(pipe[1], line.data(), line.size()) == static_cast<ssize_t>(line.size());
        _exit(written ? 0 : 1);
      }
      close(pipe[1]);
      child.descriptor = pipe[0];
      running.emplace(pid, std::move(child));
    }
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (const auto found = running.find(ended); found != running.end()) {
      const Child& child = found->second;
      std::string line = rest_of(child.descriptor);
      const double seconds = detail::monotonic_seconds() - child.begin;
      if (line.empty())
        line = fmt::format("{},{},0,0,0,0,0,0,0,{:.1f},0,\"\"", name_of(child.task),
                           WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? "late" : "crashed", seconds);
      print(line);
      if (field(line, 1) == "ok") {
        ++right;
        ratios.push_back(std::atof(field(line, 2).c_str()));
        within += std::atof(field(line, 3).c_str()) <= 1 && 1 <= std::atof(field(line, 4).c_str()) ? 1 : 0;
      }
      taken[static_cast<std::size_t>(child.slot)] = false;
      running.erase(found);
      continue;
    }
    for (const auto& [pid, child] : running)
      if (detail::monotonic_seconds() - child.begin > asked.seconds) kill(pid, SIGKILL);
    usleep(50000);
  }
  double logs = 0;
  for (const double ratio : ratios) logs += std::log(ratio);
  const auto share = [&](double above) {
    return std::count_if(ratios.begin(), ratios.end(), [&](double ratio) { return ratio > above; });
  };
  fmt::print("{} of {} right; 1 in the interval of {}", right, asked.tasks.size(), within);
  if (asked.rounds > 0 && !ratios.empty())
    fmt::print(
        "; geometric mean of the ratios {:.3f}, most {:.3f}; fast_1 {}, Fast@1 (above 1.1) {}, fast_2 {}",
        std::exp(logs / static_cast<double>(ratios.size())), *std::max_element(ratios.begin(), ratios.end()),
        share(1), share(1.1), share(2));
  fmt::print("\n");
  if (csv != nullptr) std::fclose(csv);
  return right == asked.tasks.size() ? 0 : 1;
}
