// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/improvement.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "kernelsearch/report/load.hpp"
#include "kernelsearch/report/render_report.hpp"
#include "kernelsearch/report/report_model.hpp"
#include "kernelsearch/report/summary.hpp"
#include "kernelsearch/report/winner.hpp"
#include "support/check_has.hpp"
#include "support/stored_run.hpp"

using namespace kernelsearch;

namespace {

FinalistComparison won_by(std::uint64_t trial, Speedup over_default, bool is_default = false) {
  return {TrialId{trial}, 4, is_default, {{TrialId{trial}, std::nullopt, over_default}}};
}

}  // namespace

TEST_CASE("no_improvement: a winner that is surely faster than what it was compared with is one") {
  StoredRun stored;
  CHECK(no_improvement(stored.store, stored.run).empty());
  stored.store.set_finalists(stored.run, won_by(0, {1.2, {1.1, 1.3}, 20}));
  CHECK(no_improvement(stored.store, stored.run).empty());
  const std::string summary = run_summary(stored.store, stored.run);
  CHECK(summary.find("no improvement") == std::string::npos);
  check_has(summary, ", trial 0\n");
  check_has(summary, "finalists trial 0 over the default configuration: 1.20x (1.10 to 1.30), 20 pairs\n");
  const auto record = nlohmann::json::parse(winner_record(stored.store, stored.run, stored.problem));
  CHECK(record["improvement"] == true);
  CHECK(!record.contains("no_improvement"));
  CHECK(record["run"]["trial"] == 0);
  CHECK(record["finalists"]["pairs"].size() == 1);
}

TEST_CASE("no_improvement: one whose interval is not above 1 is said to be none, in the files too") {
  StoredRun stored;
  stored.store.set_finalists(stored.run, won_by(1, {1.02, {0.99, 1.05}, 20}));
  const std::string words =
      "not surely faster than the default configuration: 1.02x (0.99 to 1.05) in 20 pairs";
  CHECK(no_improvement(stored.store, stored.run) == words);
  check_has(run_summary(stored.store, stored.run), "no improvement: " + words + "\n");
  check_has(winner_source(stored.store, stored.run, stored.problem), "//   NO IMPROVEMENT: " + words + "\n");
  check_has(winner_settings(stored.store, stored.run, stored.problem),
            "//   NO IMPROVEMENT: " + words + "\n");
  const auto record = nlohmann::json::parse(winner_record(stored.store, stored.run, stored.problem));
  CHECK(record["improvement"] == false);
  CHECK(record["no_improvement"] == words);

  stored.store.set_finalists(stored.run, won_by(1, {0.8, {0.7, 0.9}, 20}));
  check_has(no_improvement(stored.store, stored.run), "slower than the default configuration");
  stored.store.set_finalists(stored.run, won_by(1, {1, {1, 1}, 0}, true));
  CHECK(no_improvement(stored.store, stored.run) == "it is the default configuration");
}

TEST_CASE("no_improvement: against the reference as well, in stores without a comparison too") {
  StoredRun stored;
  Outcome slow = stored.store.trial(stored.run, TrialId{1})->outcome;
  slow.evaluation.measurement.speedup = Speedup{0.72, {0.7, 0.74}, 30};
  stored.store.add_revision(stored.run, {}, slow);
  CHECK(no_improvement(stored.store, stored.run) ==
        "slower than the reference: 0.72x (0.70 to 0.74) in 30 pairs");
}

TEST_CASE("run_summary: says how many trials were measured under load") {
  StoredRun stored;
  CHECK(run_summary(stored.store, stored.run).find("load  ") == std::string::npos);
  Outcome loaded = stored.store.trial(stored.run, TrialId{0})->outcome;
  loaded.evaluation.features.set("load.core", 0.43);
  loaded.evaluation.features.set("load.pressure", 0.9);
  stored.store.add_revision(stored.run, {}, loaded);
  Outcome little = stored.store.trial(stored.run, TrialId{1})->outcome;
  little.evaluation.features.set("load.core", 0.02);
  stored.store.add_revision(stored.run, {}, little);
  check_has(run_summary(stored.store, stored.run),
            "load      1 of 4 trials were measured while others used the core or device (up to 43 % of it)");
  CHECK(run_totals(stored.store, stored.run).loaded == 1);
  CHECK(load_of(loaded.evaluation.features) == 0.43);
}

TEST_CASE("run_summary, reports: the score S and the baseline, only where there are some") {
  StoredRun stored;
  CHECK(run_summary(stored.store, stored.run).find("score ") == std::string::npos);
  const ReportModel plain = report_of(stored.store, stored.run);
  CHECK(report_markdown({&plain, 1}).find("score S") == std::string::npos);
  CHECK(report_json({&plain, 1}).find("\"score\"") == std::string::npos);
  Outcome scored = stored.store.trial(stored.run, TrialId{1})->outcome;
  scored.evaluation.features.set("sol.score", 0.625);
  stored.store.add_revision(stored.run, {}, scored);
  check_has(
      run_summary(stored.store, stored.run),
      "score     S 0.625 over the reference: 1 at the roofline's bound (everything moved once at the peak "
      "of memory, products at that of their type), 0.5 at it\n");
  scored.evaluation.features.set("torch.over_baseline", 1.5);
  scored.evaluation.features.set("torch.over_baseline_low", 1.25);
  scored.evaluation.features.set("torch.over_baseline_high", 2);
  stored.store.add_revision(stored.run, {}, scored);
  const std::string summary = run_summary(stored.store, stored.run);
  check_has(summary, "\n          1.5x (1.25 to 2) over the baseline\n");
  check_has(summary, "score     S 0.625 over the baseline: ");
  const ReportModel report = report_of(stored.store, stored.run);
  check_has(report_markdown({&report, 1}), "| speedup | score S | settings |");
  check_has(report_markdown({&report, 1}), " | 0.625 | ");
  check_has(report_json({&report, 1}), "\"score\":[null,0.625,null,null]");
}
