// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/report_model.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "kernelsearch/core/rng.hpp"
#include "support/approx.hpp"
#include "support/stored_run.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

/// Trials over three tunables of which the first decides, the second adds a little and the third nothing.
std::vector<ReportTrial> made_trials(std::size_t count) {
  Rng rng(7);
  std::vector<ReportTrial> trials;
  for (std::size_t i = 0; i < count; ++i) {
    ReportTrial trial;
    trial.id = TrialId{i};
    trial.values = {static_cast<int>(rng.below(5)), static_cast<int>(rng.below(5)),
                    static_cast<int>(rng.below(5))};
    trial.seconds = std::exp(0.8 * trial.values[0] + 0.1 * trial.values[1]);
    trials.push_back(trial);
  }
  return trials;
}

std::vector<ReportTunable> made_tunables() {
  const std::vector<std::string> values{"0", "1", "2", "3", "4"};
  return {{"strong", values, {}}, {"weak", values, {}}, {"idle", values, {}}, {"fixed", {"1"}, {}}};
}

StoredTrial rewrite(std::uint64_t id, std::uint64_t parent, const std::string& strategy, double seconds) {
  StoredTrial trial;
  trial.position = id;
  trial.point = to_json_text(Move{MoveKind::rewrite, {TrialId{parent}}, {strategy}, 0});
  trial.outcome.id = TrialId{id};
  trial.outcome.parents = {TrialId{parent}};
  trial.outcome.evaluation =
      seconds > 0 ? Evaluation::succeeded(seconds) : Evaluation::failed(Verdict::crashed, "signal 11");
  trial.outcome.evaluation.measurement.interval = {seconds * 0.99, seconds * 1.01};
  if (seconds > 0) trial.outcome.objective = seconds;
  return trial;
}

}  // namespace

TEST_CASE("report_of: a stored run as plain data") {
  StoredRun stored;
  stored.store.end_run(stored.run, "4 trials", 4.0);
  const ReportModel report = report_of(stored.store, stored.run);
  CHECK(report.run.info.problem == "axpy 2");
  CHECK(report.summary == run_summary(stored.store, stored.run));
  CHECK(report.winner == TrialId{1});
  REQUIRE(report.trials.size() == 4);
  CHECK(report.trials[1].seconds == 1e-3);
  CHECK(report.trials[1].interval == Interval{0.99e-3, 1.01e-3});
  CHECK(report.trials[1].speedup->ratio == 4.0);
  CHECK(report.trials[2].verdict == Verdict::build_failed);
  CHECK(report.trials[2].reason == "no");
  CHECK(report.failures.size() == 2);
  REQUIRE(report.details.size() == 4);
  CHECK(report.details[1].shapes.size() == 2);
  CHECK(report.details[1].shapes[0].samples.empty());
  CHECK(report.details[1].features.find("bytes") == 12.0);
  CHECK(report.details[1].provenance == "built here");
  REQUIRE(report.kernels.size() == 1);
  CHECK(report.kernels[0].digest == report.trials[0].kernel);
  CHECK(report.totals.phases.build == 1.0);
  CHECK_FALSE(report.explained.has_value());
}

TEST_CASE("report_of: tunables have the values that occurred, numbers by size") {
  RunRow run;
  std::vector<StoredTrial> trials;
  for (const char* values :
       {R"({"T":16,"O":"b"})", R"({"T":4,"O":"a"})", R"({"T":9.5})", R"({"T":"auto","O":"b"})"}) {
    StoredTrial trial;
    trial.point = "[]";
    trial.outcome.id = TrialId{trials.size()};
    trial.outcome.objective = 1;
    trial.candidate = StoredCandidate{"", "[]", "", values};
    trials.push_back(trial);
  }
  const ReportModel report = report_of(run, trials);
  REQUIRE(report.tunables.size() == 2);
  CHECK(report.tunables[0].name == "O");
  CHECK(report.tunables[0].values == std::vector<std::string>{"a", "b"});
  CHECK(report.tunables[1].values == std::vector<std::string>{"4", "9.5", "16", "auto"});
  CHECK(report.trials[0].values == std::vector<int>{1, 2});
  CHECK(report.trials[1].values == std::vector<int>{0, 0});
  CHECK(report.trials[2].values == std::vector<int>{-1, 1});
  CHECK(report.trials[3].values == std::vector<int>{1, 3});
}

TEST_CASE("report_of: strategies are counted, a gain is sure only by its interval") {
  RunRow run;
  std::vector<StoredTrial> trials{rewrite(0, 99, "start", 8.0), rewrite(1, 0, "tile", 4.0),
                                  rewrite(2, 0, "tile", 7.95), rewrite(3, 0, "tile", 0.0),
                                  rewrite(4, 1, "pack", 8.0)};
  const ReportModel report = report_of(run, trials);
  REQUIRE(report.strategies.size() == 3);
  CHECK(report.strategies[0].name == "tile");
  CHECK(report.strategies[0].tries == 3);
  CHECK(report.strategies[0].right == 2);
  CHECK(report.strategies[0].faster == 1);
  CHECK(*report.strategies[0].best == 2.0);
  CHECK(*report.strategies[0].median == approx((2.0 + 8 / 7.95) / 2));
  CHECK(report.strategies[1].name == "pack");
  CHECK(*report.strategies[1].best == 0.5);
  CHECK_FALSE(report.strategies[2].median.has_value());
  CHECK(report.trials[1].kind == "rewrite");
  CHECK(report.trials[4].parents == std::vector<TrialId>{TrialId{1}});
  CHECK(report.winner == TrialId{1});
}

TEST_CASE("report_of: an outage is no try of its strategy") {
  RunRow run;
  std::vector<StoredTrial> trials{rewrite(0, 99, "start", 8.0), rewrite(1, 0, "tile", 4.0),
                                  rewrite(2, 0, "tile", 0.0)};
  trials.back().candidate.reset();
  trials.back().outcome.evaluation = Evaluation::unanswered("rewriter: the model failed (network)");
  const ReportModel report = report_of(run, trials);
  REQUIRE(report.strategies.size() == 2);
  CHECK(report.strategies[0].name == "tile");
  CHECK(report.strategies[0].tries == 1);
}

TEST_CASE("report_of: many trials keep details of the best, of their parents and of each kind of failure") {
  RunRow run;
  std::vector<StoredTrial> trials{rewrite(0, 99, "start", 9.0)};
  for (std::uint64_t id = 1; id < 60; ++id) trials.push_back(rewrite(id, 0, "tile", 8.0));
  trials.push_back(rewrite(60, 0, "tile", 0.0));
  trials.push_back(rewrite(61, 0, "tile", 5.0));
  trials.push_back(rewrite(62, 61, "tile", 1.0));
  const ReportModel report = report_of(run, trials, {.details = 4});
  std::vector<std::uint64_t> kept;
  for (const ReportDetail& detail : report.details) kept.push_back(number(detail.id));
  CHECK(kept == std::vector<std::uint64_t>{0, 60, 61, 62});
  CHECK(report.trials.size() == 63);
}

TEST_CASE("report_of: a reply belongs to the trials whose code it holds") {
  StoredRun stored;
  const std::string code = stored.kernel->regions.device;
  ReportExtras extras;
  extras.exchanges.push_back({"coder", "m", {{"user", "?"}}, "talk", "", 1, 2, 0.5, {}, {}, {}});
  extras.exchanges.push_back(
      {"coder", "m", {{"user", "?"}}, "```cpp\n\n" + code + "  \n```", "", 1, 2, 0.5, {}, {}, {}});
  const ReportModel report = report_of(stored.store, stored.run, extras);
  REQUIRE(report.exchanges.size() == 2);
  CHECK(report.exchanges[0].trials.size() == 4);  // one kernel at four settings
  CHECK(report.exchanges[1].trials.empty());
  CHECK(report_of(stored.store, stored.run, extras, {.exchange_bytes = 40}).exchanges.empty());
}

TEST_CASE("report_of: a question costs from the trial that its reply gave, or from when it was kept") {
  StoredRun stored;
  const std::vector<StoredTrial> trials = stored.store.trials(stored.run);
  ReportExtras extras;
  ReportExchange plan{"planner", "m", {}, "talk", "", 10, 5, 0.5, "9999-01-01T00:00:00.000Z", 0.25, {}};
  ReportExchange code = plan;
  code.reply = stored.kernel->regions.device;
  code.input_tokens = 100;
  code.money = 2.0;
  extras.exchanges = {plan, code};
  ReportModel report = report_of(stored.store, stored.run, extras);
  REQUIRE(report.trials.size() == 4);
  // The kernel of the reply is that of the first trial; what was kept after all trials counts at the last.
  CHECK(report.trials[0].tokens == 105);
  CHECK(report.trials[0].money == 2.0);
  CHECK(report.trials[2].tokens == 105);
  CHECK(report.trials[3].tokens == 120);
  CHECK(report.trials[3].money == 2.25);
  extras.exchanges[0].kept = trials[1].at;
  report = report_of(stored.store, stored.run, extras);
  const std::size_t from = trials[0].at == trials[1].at ? 0 : 1;  // within one millisecond
  CHECK(report.trials[from].tokens == 120);
  extras.exchanges[0].kept = "1999-01-01T00:00:00.000Z";
  CHECK(report_of(stored.store, stored.run, extras).trials[0].tokens == 120);
  // Where one price is not known there is no sum.
  extras.exchanges[0].money.reset();
  report = report_of(stored.store, stored.run, extras);
  CHECK(report.trials[3].tokens == 120);
  CHECK(report.trials[3].money == 0.0);
}

TEST_CASE("set_importance: what decides is first, what does nothing is last, and the same every time") {
  std::vector<ReportTunable> tunables = made_tunables();
  std::vector<ReportTrial> trials = made_trials(300);
  for (ReportTrial& trial : trials) trial.values.push_back(0);
  const auto explained = set_importance(tunables, trials);
  REQUIRE(explained.has_value());
  CHECK(*explained > 0.9);
  CHECK(*tunables[0].importance > 0.8);
  CHECK(*tunables[1].importance < *tunables[0].importance);
  CHECK(*tunables[2].importance < 0.02);
  CHECK(*tunables[3].importance == 0.0);
  double sum = 0;
  for (const ReportTunable& tunable : tunables) sum += *tunable.importance;
  CHECK(sum == approx(1.0));
  std::vector<ReportTunable> again = made_tunables();
  CHECK(set_importance(again, trials) == explained);
  CHECK(again[1].importance == tunables[1].importance);
}

TEST_CASE("set_importance: nothing is said of noise, of few trials and of times that do not vary") {
  std::vector<ReportTunable> tunables = made_tunables();
  tunables.pop_back();
  std::vector<ReportTrial> trials = made_trials(15);
  CHECK_FALSE(set_importance(tunables, trials).has_value());
  trials = made_trials(64);
  for (ReportTrial& trial : trials) trial.seconds = 1.0;
  CHECK_FALSE(set_importance(tunables, trials).has_value());
  Rng rng(3);
  for (ReportTrial& trial : trials) trial.seconds = std::exp(rng.normal());
  const auto explained = set_importance(tunables, trials);
  REQUIRE(explained.has_value());
  CHECK(*explained < 0.1);
  for (const ReportTunable& tunable : tunables) CHECK_FALSE(tunable.importance.has_value());
}
