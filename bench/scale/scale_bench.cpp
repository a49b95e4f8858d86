// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What remote lanes cost, as Markdown tables.
//   scale_bench overhead     a trial by a worker process at the other end of pipes, and in this process. The
//                            judge hands out a measurement that is ready (3 shapes, 60 samples each) and
//                            100 KB of code.
//   scale_bench lanes        trials a second of 1 to 8 workers whose device takes 20 ms a trial without using
//                            the processor, as a GPU does
//   scale_bench latency      the same of 4 workers behind relays that hold back what passes, both ways
//   scale_bench command KERNELSEARCH [BUDGET]
//                            seconds of a whole `tune` of 800 trials on 1, 2 and 4 such workers, each of
//                            which needs 1 s to start, 0.5 s after each `renew` and 0.6 s for a pair of
//                            finalists; and of one with a budget of 60 s. With a BUDGET, e.g. 60s: of one
//                            such command alone
//   scale_bench simulated    the loop with 1 to 10,000 lanes in virtual time: a trial takes 50 to 500 ms of
//                            it, and the controller as long as it really takes to propose and to be told

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/shell_word.hpp"
#include "kernelsearch/remote/lane_server.hpp"
#include "kernelsearch/remote/launch.hpp"
#include "kernelsearch/remote/remote_evaluator.hpp"
#include "support/word_evaluator.hpp"

using namespace kernelsearch;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Evaluation measured() {
  Rng rng(1);
  Evaluation evaluation = Evaluation::succeeded(1.234e-3);
  for (const char* name : {"square", "tall", "odd"}) {
    ShapeMeasurement shape;
    shape.shape = name;
    for (int i = 0; i < 60; ++i) shape.samples.push_back(rng.uniform(1e-3, 2e-3));
    shape.median = 1.5e-3;
    shape.interval = {1.4e-3, 1.6e-3};
    evaluation.measurement.shapes.push_back(shape);
  }
  return evaluation;
}

/// Hands out what is ready, after `seconds`.
struct Ready {
  struct Artifact {
    Candidate candidate;
    std::string code;
  };
  Problem about;
  double seconds = 0;
  std::size_t bytes = 100'000;
  Evaluation ready = measured();

  Staged<Artifact> build(const Candidate& candidate, const EvaluationContext&) const {
    return {{}, Artifact{candidate, std::string(bytes, 'c')}};
  }
  Evaluation run(Staged<Artifact>&&, const EvaluationContext&) const {
    if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    return ready;
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) const {
    return evaluate_in_stages(*this, candidate, context);
  }
  [[nodiscard]] std::size_t lanes() const { return 1; }
  [[nodiscard]] const Problem& problem() const { return about; }
  [[nodiscard]] std::string device_id() const { return "none"; }
  [[nodiscard]] std::string toolchain_id() const { return "none"; }
  [[nodiscard]] PortableArtifact carry(const Artifact& artifact) const { return {artifact.code, {}, false}; }
  [[nodiscard]] Artifact carried(const Candidate& candidate, const PortableArtifact& portable) const {
    return {candidate, portable.code};
  }
};

/// The same with what a device takes besides measuring: until it is ready, after it was renewed, for a pair.
/// Which configuration is best is in its numbers.
struct Slow : Ready {
  static constexpr double start = 1.0, fresh = 0.5, pair = 0.6;
  std::shared_ptr<std::atomic<bool>> renewed = std::make_shared<std::atomic<bool>>(false);

  static void sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) const {
    if (renewed->exchange(false)) sleep(fresh);
    double time = 1e-3;
    for (const std::uint32_t index : staged.artifact->candidate.config.indices) time *= 1 + 0.01 * index;
    Evaluation evaluation = Ready::run(std::move(staged), context);
    evaluation.measurement.seconds = time;
    evaluation.measurement.interval = {0.98 * time, 1.02 * time};
    return evaluation;
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) const {
    return evaluate_in_stages(*this, candidate, context);
  }
  std::optional<Speedup> compare(const Candidate&, const Candidate&, const PairOptions&) const {
    if (renewed->exchange(false)) sleep(fresh);
    sleep(pair);
    return Speedup{1.1, {1.09, 1.11}, 12};
  }
  void renew() const { *renewed = true; }
};

/// Serves with a device that takes so many seconds, or by a `command` that tells it nothing of them.
int work(const std::string& seconds) {
  LaneServerOptions options;
  options.make = [&seconds](Problem problem, const std::string& how, const std::string&) {
    if (seconds.empty()) {
      Ready ready;
      ready.about = std::move(problem);
      ready.seconds = std::stod(how);
      return LaneJudge{std::move(ready), 2, "none"};
    }
    Slow slow;
    slow.about = std::move(problem);
    slow.seconds = std::stod(seconds);
    slow.bytes = 0;
    Slow::sleep(Slow::start);
    return LaneJudge{std::move(slow), 2, "none"};
  };
  return serve_lane(0, 1, options) ? 0 : 1;
}

/// Passes on what comes in at `in` after `milliseconds` of it, and up to half as many more, in order.
void hold_back(int in, int out, double milliseconds, std::uint64_t seed) {
  struct Piece {
    double due;
    std::string bytes;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Piece> pieces;
  bool over = false;
  std::jthread writing([&] {
    while (true) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return over || !pieces.empty(); });
      if (pieces.empty()) break;
      Piece piece = std::move(pieces.front());
      pieces.pop_front();
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::duration<double>(piece.due - now()));
      for (std::size_t done = 0; done < piece.bytes.size();) {
        const ssize_t wrote = write(out, piece.bytes.data() + done, piece.bytes.size() - done);
        if (wrote <= 0) return;
        done += static_cast<std::size_t>(wrote);
      }
    }
    close(out);
  });
  Rng rng(seed);
  std::vector<char> buffer(1 << 18);
  while (true) {
    const ssize_t got = read(in, buffer.data(), buffer.size());
    const std::lock_guard lock(mutex);
    over = got <= 0;
    if (!over)
      pieces.push_back({now() + 1e-3 * milliseconds * (1 + 0.5 * rng.uniform()),
                        std::string(buffer.data(), static_cast<std::size_t>(got))});
    changed.notify_all();
    if (over) break;
  }
}

/// `scale_bench relay MILLISECONDS COMMAND...`: what a launcher over a slow network does.
int relay(double milliseconds, char** command) {
  signal(SIGPIPE, SIG_IGN);
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    dup2(to[0], 0);
    dup2(from[1], 1);
    execvp(command[0], command);
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  std::thread([&] { hold_back(0, to[1], milliseconds, 1); }).detach();  // it ends with us
  hold_back(from[0], 1, milliseconds, 2);
  int status = 0;
  waitpid(child, &status, 0);
  return 0;
}

RemoteOptions workers(const char* self, std::size_t count, double seconds) {
  RemoteOptions options;
  for (std::size_t i = 0; i < count; ++i)
    options.lanes.push_back({"exec " + shell_word(self) + " worker", "worker", false});
  options.how = std::to_string(seconds);
  options.tolerance = 0;
  options.falls_behind = 0;
  return options;
}

EvaluationContext searching() {
  EvaluationContext context;
  context.trial = TrialId{7};
  return context;
}

template <class E>
double median_evaluation(E& evaluator, const Candidate& candidate) {
  std::vector<double> seconds;
  for (int i = 0; i < 1000; ++i) {
    const double begun = now();
    (void)evaluator.evaluate(candidate, searching());
    seconds.push_back(now() - begun);
  }
  std::nth_element(seconds.begin(), seconds.begin() + 500, seconds.end());
  return seconds[500];
}

void overhead(const char* self) {
  const Problem problem = support::small_problem();
  Ready local;
  local.about = problem;
  RemoteEvaluator remote(problem, workers(self, 1, 0));
  const double here = median_evaluation(local, problem.default_candidate());
  const double there = median_evaluation(remote, problem.default_candidate());
  std::printf(
      "| a trial, median of 1000 | ms |\n|---|---|\n| in this process | %.3f |\n| by a worker | %.3f |\n| "
      "more | %.3f |\n",
      1e3 * here, 1e3 * there, 1e3 * (there - here));
}

/// Trials a second of workers that are all ready, with `ahead` of them in flight for each.
double rate_of(const RemoteOptions& options, std::size_t ahead, int each) {
  const Problem problem = support::small_problem();
  const std::size_t count = options.lanes.size();
  RemoteEvaluator remote(problem, options);
  while (true) {
    const auto reports = remote.reports();
    if (std::all_of(reports.begin(), reports.end(),
                    [](const LaneReport& one_of) { return one_of.state == "ready"; }))
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  OptimizerOptions loop;
  loop.in_flight = ahead * count;
  loop.build_threads = 2 * count;
  const std::size_t trials = static_cast<std::size_t>(each) * count;
  loop.budget = std::make_shared<TrialBudget>(trials);
  std::vector<std::int64_t> values;
  for (int i = 0; i < 4096; ++i) values.push_back(i);
  const Space space = Space::build({Tunable::integers("A", values)});
  Optimizer search(RandomSearch(space, {.seed = 1}),
                   TemplateGenerator(std::make_shared<const Kernel>(Kernel{{}, space})), remote, loop);
  const double begun = now();
  search.run();
  return static_cast<double>(search.trials().size()) / (now() - begun);
}

void lanes(const char* self) {
  std::printf("| workers | trials a second | times one |\n|---|---|---|\n");
  double one = 0;
  for (const std::size_t count : {1, 2, 4, 8}) {
    const double rate = rate_of(workers(self, count, 0.02), 4, 200);
    if (count == 1) one = rate;
    std::printf("| %zu | %.1f | %.2f |\n", count, rate, rate / one);
  }
}

void latency(const std::string& self) {
  std::printf("| each way, ms | trials a second | of those without |\n|---|---|---|\n");
  double none = 0;
  for (const int milliseconds : {0, 1, 10, 50}) {
    RemoteOptions options = workers(self.c_str(), 4, 0.02);
    if (milliseconds > 0)
      for (LaneLaunch& lane : options.lanes)
        lane.command = "exec " + shell_word(self) + " relay " + std::to_string(milliseconds) + " " +
                       shell_word(self) + " worker";
    const double rate = rate_of(options, 4, 100);
    if (milliseconds == 0) none = rate;
    if (milliseconds == 0)
      std::printf("| 0 | %.1f | |\n", rate);
    else
      std::printf("| %d to %.1f | %.1f | %.0f %% |\n", milliseconds, 1.5 * milliseconds, rate,
                  100 * rate / none);
  }
}

/// Seconds that a `tune` by scripted workers takes.
double tuned(const std::string& self, const std::string& program, std::size_t lanes, const char* budget) {
  char folder[] = "/tmp/scale_bench.XXXXXX";
  if (mkdtemp(folder) == nullptr) return 0;
  const std::string in = std::string(folder) + "/";
  std::string problem = support::problem_text;
  const std::string tunables = "\"UNROLL\": [1, 2, 4, 8], \"BLOCK\": [16, 32, 64]";
  std::string many = "\"UNROLL\": [1, 2, 4, 8], \"BLOCK\": [16";
  for (int i = 17; i < 4000; ++i) many += ", " + std::to_string(i);
  problem.replace(problem.find(tunables), tunables.size(), many + "]");
  const std::string constraint = "\"UNROLL * BLOCK <= 256\"";
  problem.replace(problem.find(constraint), constraint.size(), "");
  std::ofstream(in + "problem.json") << problem;
  // The lane's command follows, and is a comment.
  const std::string launch = shell_word(self) + " worker 0.02 #";
  const std::string line = shell_word(program) + " tune " + in + "problem.json --policy random --budget " +
                           budget + " --store " + in + "runs.db --no-bounds --no-reuse --out " + in +
                           "out --lane-tolerance 0 --json --launch " + shell_word(launch) + " x" +
                           std::to_string(lanes) + " > " + in + "out.json 2> " + in + "err";
  const double begun = now();
  const int status = std::system(line.c_str());
  const double took = now() - begun;
  if (status != 0) {
    std::fprintf(stderr, "it failed: see %serr\n", in.c_str());
    return 0;
  }
  std::filesystem::remove_all(folder);
  return took;
}

void with_budget(const std::string& self, const std::string& program, const char* budget) {
  std::printf("A budget of %s, 4 workers: %.2f s\n", budget, tuned(self, program, 4, budget));
}

void whole_command(const std::string& self, const std::string& program) {
  std::printf("| workers | seconds of a `tune` of 800 trials | of one worker's |\n|---|---|---|\n");
  double one = 0;
  for (const std::size_t count : {1, 2, 4}) {
    const double took = tuned(self, program, count, "800");
    if (count == 1) one = took;
    std::printf("| %zu | %.2f | %.2f |\n", count, took, took / one);
    std::fflush(stdout);
  }
  std::printf("\n");
  with_budget(self, program, "60s");
}

double resident_mib() {
  std::ifstream status("/proc/self/statm");
  double pages = 0;
  status >> pages >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 0x1p20;
}

void simulated() {
  std::printf(
      "| lanes | trials | proposals a second of the controller | idle share of lanes | memory, MiB "
      "|\n|---|---|---|---|---|\n");
  const std::vector<std::int64_t> values{1, 2, 3, 4, 5, 6, 7, 8};
  const Space space = Space::build({Tunable::integers("A", values), Tunable::integers("B", values),
                                    Tunable::integers("C", values), Tunable::integers("D", values),
                                    Tunable::integers("E", values), Tunable::integers("F", values)});
  for (const std::size_t count : {1, 10, 100, 1000, 10'000}) {
    const std::size_t trials = std::max<std::size_t>(2000, 10 * count);
    Optimizer search{RandomSearch(space, {.seed = 1}), TemplateGenerator(Kernel{{}, space})};
    struct Event {
      double at;
      std::size_t lane;
      TrialId trial;
      bool operator<(const Event& other) const { return at > other.at; }
    };
    Rng rng(3);
    std::priority_queue<Event> running;
    double clock = 0, controlling = 0;  // virtual; the controller does one thing at a time
    std::vector<std::pair<double, double>> measured_at;
    std::size_t asked = 0;
    const auto start = [&](std::size_t lane, double free) {
      const double begun = now();
      auto jobs = search.ask(1);
      const double took = now() - begun;
      controlling += took;
      clock = std::max(clock, free) + took;
      if (jobs.empty()) return;
      ++asked;
      const double seconds = rng.uniform(0.05, 0.5);
      measured_at.emplace_back(clock, clock + seconds);
      running.push({clock + seconds, lane, jobs.front().id});
    };
    for (std::size_t lane = 0; lane < count; ++lane) start(lane, 0);
    double last = 0;  // when lanes were kept busy for the last time
    while (!running.empty()) {
      const Event event = running.top();
      running.pop();
      const double begun = now();
      search.tell(event.trial, Evaluation::succeeded(1 + static_cast<double>(number(event.trial) % 97)));
      const double took = now() - begun;
      controlling += took;
      clock = std::max(clock, event.at) + took;
      if (asked >= trials) continue;
      start(event.lane, clock);
      last = clock;
    }
    double busy = 0;
    for (const auto& [from, to] : measured_at) busy += std::max(0.0, std::min(to, last) - from);
    std::printf("| %zu | %zu | %.0f | %.2f %% | %.0f |\n", count, asked,
                static_cast<double>(asked) / controlling,
                100 * (1 - busy / (last * static_cast<double>(count))), resident_mib());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "worker") return work(argc > 2 ? argv[2] : "");
  if (what == "relay" && argc > 3) return relay(std::stod(argv[2]), argv + 3);
  const std::string self = "/proc/" + std::to_string(getpid()) + "/exe";
  if (what == "overhead")
    overhead(self.c_str());
  else if (what == "lanes")
    lanes(self.c_str());
  else if (what == "latency")
    latency(self);
  else if (what == "command" && argc > 3)
    with_budget(self, argv[2], argv[3]);
  else if (what == "command" && argc > 2)
    whole_command(self, argv[2]);
  else if (what == "simulated")
    simulated();
  else {
    std::fprintf(stderr, "scale_bench overhead|lanes|latency|command KERNELSEARCH [BUDGET]|simulated\n");
    return 2;
  }
}
