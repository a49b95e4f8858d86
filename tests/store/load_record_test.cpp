// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/load_record.hpp"

#include <doctest/doctest.h>

#include "support/temporary_folder.hpp"

using namespace kernelsearch;

TEST_CASE("load_record: asks, told trials and revisions come back in order with their candidates") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const RunId run = store.begin_run({.name = "r"});
  StoredTrial trial;
  trial.point = "7";
  trial.candidate = StoredCandidate{"", "70", "70"};
  trial.outcome.origin = Origin{};
  trial.outcome.objective = 2.0;
  trial.elapsed = 1.25;
  store.add_trial(run, std::vector<AskEvent>{{3, 2}}, trial);
  StoredTrial none;
  none.point = "8";
  none.outcome.id = TrialId{1};
  none.outcome.evaluation = Evaluation::failed(Verdict::not_generated, "prose");
  none.elapsed = 2.5;
  store.add_trial(run, {}, none);
  Outcome revised = trial.outcome;
  revised.objective = 9.0;
  store.add_revision(run, {}, revised);
  // Two inside the first trial, one inside a trial that was never told.
  for (std::uint64_t i = 0; i < 2; ++i) store.add_inner(run, TrialId{0}, {i, "key", {}});
  store.add_inner(run, TrialId{0}, {1, "key", {}});  // once more, after a kill
  store.add_inner(run, TrialId{2}, {0, "key", {}});

  const auto record = load_record<int, int>(store, run);
  CHECK(record.seconds == 2.5);  // killed before its end: up to its last trial
  REQUIRE(record.events.size() == 4);
  CHECK(record.inner_trials == 2);
  CHECK(std::get<AskEvent>(record.events[0]).returned == 2);
  const auto& first = std::get<1>(record.events[1]);
  CHECK(first.trial.candidate == 70);
  CHECK(first.proposal == 7);
  CHECK(first.trial.outcome.objective == 2.0);
  const auto& second = std::get<1>(record.events[2]);
  CHECK_FALSE(second.trial.candidate.has_value());
  CHECK(second.proposal == 8);
  CHECK(std::get<RevisedEvent>(record.events[3]).outcome.objective == 9.0);
  CHECK_THROWS_AS((void)(load_record<Config, int>(store, run)), ConfigError);
  CHECK_THROWS_AS((void)(load_record<int, int>(store, RunId{9})), StoreError);
}
