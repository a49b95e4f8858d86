// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "run/support.hpp"
#include "run/trial_watch.hpp"

using namespace run_test;

namespace {

/// Whatever it is asked to do takes for ever, that is until it is asked to stop or half a minute is over,
/// except the first trials. Several devices.
struct Endless {
  struct State {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::uint64_t quick_builds = 0, quick_runs = 0;  ///< so many take no time
    std::atomic<std::uint64_t> builds{0}, runs{0}, compares{0};
    std::atomic<std::uint64_t> waited_out{0};  ///< came to their end by themselves
    std::atomic<std::uint64_t> given_up{0};
    bool endless_compare = false;
    void take_for_ever(const std::stop_token& stop) {
      std::unique_lock lock(mutex);
      changed.wait_for(lock, stop, std::chrono::seconds(30), [] { return false; });
      ++(stop.stop_requested() ? given_up : waited_out);
    }
  };
  struct Artifact {
    Candidate candidate;
  };
  Problem about;
  std::shared_ptr<State> state = std::make_shared<State>();

  Staged<Artifact> build(const Candidate& candidate, const EvaluationContext& context) const {
    if (++state->builds > state->quick_builds) {
      state->take_for_ever(context.stop);
      return {Evaluation::failed(Verdict::timed_out, "stopped"), std::nullopt};
    }
    return {{}, Artifact{candidate}};
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) const {
    const std::uint64_t which = ++state->runs;
    if (which > state->quick_runs) state->take_for_ever(context.stop);
    Evaluation evaluation = Evaluation::succeeded(
        1.0 + to_number(small_problem().kernel.space.value(staged.artifact->candidate.config, 1)));
    evaluation.phases = {0, 0.001, 0.001};
    return evaluation;
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) const {
    return evaluate_in_stages(*this, candidate, context);
  }
  [[nodiscard]] Speedup compare(const Candidate&, const Candidate&, const PairOptions& pairs) const {
    ++state->compares;
    if (state->endless_compare) {
      state->take_for_ever(pairs.stop);
      return {};
    }
    return {1.5, {1.4, 1.6}, 12};
  }
  [[nodiscard]] std::size_t lanes() const { return 4; }
  [[nodiscard]] const Problem& problem() const { return about; }
  [[nodiscard]] std::string device_id() const { return "a scripted device"; }
  [[nodiscard]] std::string toolchain_id() const { return "a scripted compiler 1.0"; }
};

struct Timed {
  Place place;
  std::shared_ptr<Endless::State> state = std::make_shared<Endless::State>();
  std::vector<std::string> told;
  RunResult run(const std::string& budget) {
    RunOptions options;
    options.policy = "random";
    options.budget = budget;
    options.measurement.jobs = 4;
    RunParts parts;
    parts.store = place.store.get();
    parts.evaluator = Endless{small_problem(), state};
    Run run = Run::start(small_problem(), options, std::move(parts));
    struct Hears {
      std::vector<std::string>& told;
      void on_message(std::string_view text) { told.emplace_back(text); }
    } hears{told};
    run.to_end(hears);
    return run.finish();
  }
};

}  // namespace

TEST_CASE("Run: at the end of its time what is being built or measured on all devices is given up") {
  Timed timed;
  timed.state->quick_builds = 8;
  timed.state->quick_runs = 4;
  const RunResult result = timed.run("400ms");
  CHECK(result.reason == "0.4 s of wall time");
  CHECK(!result.stopped);
  CHECK(timed.state->given_up >= 4);
  CHECK(timed.state->waited_out == 0);  // nothing was waited for until it ended by itself
  // What had been measured by then is told, and what was given up is no failure of the candidates.
  CHECK(result.row.trials >= 4);
  for (const StoredTrial& trial : timed.place.store->trials(result.run)) CHECK(trial.outcome.ok());
}

TEST_CASE("Run: the finalists have a part of the time, and end with it") {
  Timed timed;
  timed.state->quick_builds = timed.state->quick_runs = 1000;
  timed.state->endless_compare = true;
  const RunResult result = timed.run("400ms");
  CHECK(timed.state->compares >= 1);
  CHECK(timed.state->waited_out == 0);
  REQUIRE(result.best.has_value());
  CHECK(!result.finalists);
}

TEST_CASE("Run: finalists that are compared within the time decide") {
  Timed timed;
  timed.state->quick_builds = timed.state->quick_runs = 1000;
  const RunResult result = timed.run("60s");  // the space is searched long before
  REQUIRE(result.finalists.has_value());
  REQUIRE(result.best.has_value());
  CHECK(result.best->outcome.id == result.finalists->winner);
  bool said = false;
  for (const std::string& text : timed.told) said |= text.find("in pairs with") != std::string::npos;
  CHECK(said);
}

TEST_CASE(
    "finalist_seconds: nine times what a trial takes, between a twentieth and a quarter of the budget") {
  CHECK(detail::finalist_seconds(60, 0) == 3);
  CHECK(detail::finalist_seconds(60, 1) == 9);
  CHECK(detail::finalist_seconds(60, 10) == 15);
}

TEST_CASE("TrialWatch: warns of load once, and says what it does to the figures") {
  detail::TrialWatch watch;
  std::vector<std::string> warned;
  const auto warn = [&](const std::string& text) { warned.push_back(text); };
  Outcome quiet;
  quiet.id = TrialId{1};
  quiet.evaluation.features.set("load.core", 0.03);
  quiet.evaluation.features.set("load.runnable", 7);
  quiet.evaluation.phases = {9, 0.5, 1.5};
  watch.see(quiet, warn);
  CHECK(warned.empty());
  CHECK(watch.longest() == 2);
  Outcome loaded = quiet;
  loaded.id = TrialId{2};
  loaded.evaluation.features.set("load.core", 0.43);
  watch.see(loaded, warn);
  watch.see(loaded, warn);
  REQUIRE(warned.size() == 1);
  CHECK(warned[0].find("trial 2") != std::string::npos);
  CHECK(warned[0].find("43 %") != std::string::npos);
  CHECK(warned[0].find("Times come out longer and intervals wider") != std::string::npos);
  Outcome gpu;
  gpu.id = TrialId{3};
  gpu.evaluation.features.set("load.device", 0.6);
  CHECK(detail::load_warning(gpu).find("others used the GPU for 60 %") != std::string::npos);
}

TEST_CASE("RunActivity: what a run does, and first of all what it waits for") {
  CHECK(to_string(RunActivity{}).empty());
  CHECK(to_string(RunActivity{.compiling = 3, .measuring = 1}) == "compiling 3, measuring");
  CHECK(to_string(RunActivity{.asking = 2}) == "waiting for a model 2");
  CHECK(to_string(RunActivity{.compiling = 1, .waiting = "waits for core 1"}) == "waits for core 1");
}

TEST_CASE("Run: says when it compiles and when it measures") {
  Timed timed;
  timed.state->quick_builds = timed.state->quick_runs = 1000;
  RunOptions options;
  options.policy = "random";
  options.budget = "5";
  RunParts parts;
  parts.store = timed.place.store.get();
  parts.evaluator = Endless{small_problem(), timed.state};
  Run run = Run::start(small_problem(), options, std::move(parts));
  struct Hears {
    std::atomic<bool> compiling{false}, measuring{false};
    std::mutex mutex;
    RunActivity last;
    void on_activity(const RunActivity& activity) {
      const std::lock_guard lock(mutex);
      compiling = compiling || activity.compiling > 0;
      measuring = measuring || activity.measuring > 0;
      last = activity;
    }
  } hears;
  run.to_end(hears);
  CHECK(hears.compiling);
  CHECK(hears.measuring);
  CHECK(hears.last.compiling == 0);
  CHECK(hears.last.measuring == 0);
}
