// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What remote lanes cost, as Markdown tables.
//   scale_bench overhead     a trial by a worker process at the other end of pipes, and in this process. The
//                            judge hands out a measurement that is ready (3 shapes, 60 samples each) and
//                            100 KB of code.
//   scale_bench lanes        trials a second of 1 to 8 workers whose device takes 20 ms a trial without using
//                            the processor, as a GPU does
//   scale_bench simulated    the loop with 1 to 10,000 lanes in virtual time: a trial takes 50 to 500 ms of
//                            it, and the controller as long as it really takes to propose and to be told

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
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

int work() {
  LaneServerOptions options;
  options.make = [](Problem problem, const std::string& how) {
    Ready ready;
    ready.about = std::move(problem);
    ready.seconds = std::stod(how);
    return LaneJudge{std::move(ready), 2, "none"};
  };
  return serve_lane(0, 1, options) ? 0 : 1;
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

void lanes(const char* self) {
  std::printf("| workers | trials a second | times one |\n|---|---|---|\n");
  double one = 0;
  const Problem problem = support::small_problem();
  for (const std::size_t count : {1, 2, 4, 8}) {
    RemoteEvaluator remote(problem, workers(self, count, 0.02));
    while (true) {
      const auto reports = remote.reports();
      if (std::all_of(reports.begin(), reports.end(),
                      [](const LaneReport& one_of) { return one_of.state == "ready"; }))
        break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::vector<std::jthread> threads;
    const double begun = now();
    constexpr int each = 200;
    for (std::size_t t = 0; t < count; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < each; ++i) (void)remote.evaluate(problem.default_candidate(), searching());
      });
    threads.clear();
    const double rate = each * static_cast<double>(count) / (now() - begun);
    if (count == 1) one = rate;
    std::printf("| %zu | %.1f | %.2f |\n", count, rate, rate / one);
  }
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
  if (what == "worker") return work();
  const std::string self = "/proc/" + std::to_string(getpid()) + "/exe";
  if (what == "overhead")
    overhead(self.c_str());
  else if (what == "lanes")
    lanes(self.c_str());
  else if (what == "simulated")
    simulated();
  else {
    std::fprintf(stderr, "scale_bench overhead|lanes|simulated\n");
    return 2;
  }
}
