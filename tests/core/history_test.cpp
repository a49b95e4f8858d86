// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/history.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>

using namespace kernelsearch;

namespace {

Trial<std::string> trial(std::uint64_t id, std::vector<TrialId> parents = {}, double objective = 1.0) {
  Trial<std::string> trial;
  trial.candidate = "code " + std::to_string(id);
  trial.outcome.id = TrialId{id};
  trial.outcome.parents = std::move(parents);
  trial.outcome.objective = objective;
  return trial;
}

}  // namespace

TEST_CASE("TrialLog: keeps trials in the order told, whatever their ids") {
  TrialLog<std::string> log;
  log.append(trial(5));
  log.append(trial(2));
  CHECK(log.size() == 2);
  CHECK(log.at(0).candidate == "code 5");
  CHECK(log.at(1).outcome.id == TrialId{2});
  CHECK(log.position_of(TrialId{2}) == 1);
  CHECK(log.contains(TrialId{5}));
  CHECK_FALSE(log.contains(TrialId{0}));
  CHECK(log.own(TrialId{2}).candidate == "code 2");
  CHECK(log.own_trials().size() == 2);
}

TEST_CASE("TrialLog: revising replaces the outcome and leaves code and order") {
  TrialLog<std::string> log;
  log.append(trial(0));
  log.append(trial(1));
  Outcome outcome = log.at(0).outcome;
  outcome.objective = 9.0;
  log.revise(outcome);
  CHECK(log.at(0).outcome.objective == 9.0);
  CHECK(log.at(0).candidate == "code 0");
  CHECK(log.at(1).outcome.objective == 1.0);
  CHECK(log.size() == 2);
}

TEST_CASE("TrialLog: a child is known to each of its parents") {
  TrialLog<std::string> log;
  log.append(trial(0));
  log.append(trial(1));
  log.append(trial(2, {TrialId{0}, TrialId{1}}));
  log.append(trial(3, {TrialId{0}}));
  CHECK(log.children(TrialId{0}) == std::vector<TrialId>{TrialId{2}, TrialId{3}});
  CHECK(log.children(TrialId{1}) == std::vector<TrialId>{TrialId{2}});
  CHECK(log.children(TrialId{3}).empty());
}

TEST_CASE("History: shows only what was told before the proposal") {
  TrialLog<std::string> log;
  log.append(trial(0));
  log.append(trial(1, {TrialId{0}}));
  const History<std::string> history(log, 2);
  log.append(trial(2, {TrialId{0}}));
  CHECK(history.size() == 2);
  CHECK(history[1].candidate == "code 1");
  CHECK(history.contains(TrialId{1}));
  CHECK_FALSE(history.contains(TrialId{2}));
  CHECK_FALSE(history.contains(TrialId{7}));
  CHECK(history.children(TrialId{0}) == std::vector<TrialId>{TrialId{1}});
  CHECK(history.find(TrialId{1}).outcome.id == TrialId{1});
}

TEST_CASE("History: an empty one knows nothing") {
  const History<std::string> nothing;
  CHECK(nothing.size() == 0);
  CHECK_FALSE(nothing.contains(TrialId{0}));
}

TEST_CASE("TrialLog: may be read while it is written") {
  TrialLog<std::string> log;
  log.append(trial(0));
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  {
    std::jthread reader([&] {
      while (!done) {
        const std::size_t size = log.size();
        if (log.at(size - 1).candidate != "code " + std::to_string(size - 1)) ++wrong;
        if (log.children(TrialId{0}).size() + 1 < size) ++wrong;
      }
    });
    for (std::uint64_t id = 1; id < 2000; ++id) log.append(trial(id, {TrialId{0}}));
    done = true;
  }
  CHECK(wrong == 0);
}
