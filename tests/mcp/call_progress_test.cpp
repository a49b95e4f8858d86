// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mcp/call_progress.hpp"

#include <doctest/doctest.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace kernelsearch;

namespace {

Trial<Candidate> trial_of(std::uint64_t id, Evaluation evaluation) {
  Trial<Candidate> trial;
  trial.outcome.id = TrialId{id};
  trial.outcome.objective = evaluation.measurement.seconds;
  trial.outcome.evaluation = std::move(evaluation);
  return trial;
}

}  // namespace

TEST_CASE("CallProgress: each trial is told with what is done, what was asked for and the best so far") {
  std::vector<std::string> told;
  const ToolCall call({}, [&told](double done, std::optional<double> total, std::string_view text) {
    told.emplace_back(text);
    CHECK(done == static_cast<double>(told.size()));
    CHECK(total == 6);
  });
  detail::CallProgress progress(call, {.trials = 6});
  progress.on_trial(trial_of(0, Evaluation::succeeded(2.0)));
  progress.on_trial(trial_of(1, Evaluation::failed(Verdict::wrong_result, "y[3]")));
  progress.on_trial(trial_of(2, Evaluation::succeeded(3.0)));
  REQUIRE(told.size() == 3);
  CHECK(told[0] == "trial 0: ok 2.000 s, best of this step 2.000 s");
  CHECK(told[1] == "trial 1: wrong_result, best of this step 2.000 s");
  CHECK(told[2] == "trial 2: ok 3.000 s, best of this step 2.000 s");
}

TEST_CASE("CallProgress: with objectives the best is the best by them") {
  std::vector<std::string> told;
  const ToolCall call(
      {}, [&told](double, std::optional<double>, std::string_view text) { told.emplace_back(text); });
  detail::CallProgress progress(call, {.trials = 2}, Objectives::parse("maximize waste = time"));
  for (const double seconds : {3.0, 2.0}) {
    auto trial = trial_of(told.size(), Evaluation::succeeded(seconds));
    trial.outcome.objective = 1 / seconds;
    progress.on_trial(trial);
  }
  CHECK(told == std::vector<std::string>{"trial 0: ok waste 3, higher is better, best of this step trial 0",
                                         "trial 1: ok waste 2, higher is better, best of this step trial 0"});
}

TEST_CASE("CallClock: says what goes on at once and again, and ends with its scope") {
  std::mutex mutex;
  std::vector<std::string> told;
  double last = -1;
  const ToolCall call({}, [&](double done, std::optional<double> total, std::string_view text) {
    const std::lock_guard lock(mutex);
    CHECK(done > last);
    CHECK(!total);
    last = done;
    told.emplace_back(text);
  });
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return told.size();
  };
  {
    detail::CallClock clock(call, "profiling trial 3");
    while (count() == 0) std::this_thread::yield();
    clock.on_message("not observed: x");
    while (count() < 3) std::this_thread::yield();
  }
  CHECK(told.front().starts_with("profiling trial 3, "));
  CHECK(told.front().ends_with(" s"));
  CHECK(told.back().starts_with("profiling trial 3, "));
  CHECK(told.back().ends_with(" s: not observed: x"));
}
