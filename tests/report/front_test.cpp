// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/front.hpp"

#include <doctest/doctest.h>

#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/report/render_report.hpp"
#include "kernelsearch/report/report_model.hpp"
#include "kernelsearch/report/summary.hpp"
#include "kernelsearch/report/winner.hpp"
#include "support/stored_run.hpp"

using namespace kernelsearch;

namespace {

/// A run by time and energy: trial 0 is the slowest and the most frugal, 1 the fastest, 2 worse than 1 in
/// both, 3 in between, 4 a failure that would beat all.
struct FrontRun : StoredRun {
  explicit FrontRun(const char* objectives = "time; maximize per_joule = 1 / energy_joules") {
    run = store.begin_run({.name = "both",
                           .problem = problem.name,
                           .policy = "nsga2",
                           .evaluator = "host",
                           .options = std::string(R"({"objectives":")") + objectives + "\"}"});
    const double seconds[] = {4e-3, 1e-3, 2e-3, 2e-3, 1e-6}, joules[] = {1, 8, 16, 2, 1e-6};
    for (std::uint64_t id = 0; id < 5; ++id) {
      Evaluation evaluation = Evaluation::succeeded(seconds[id]);
      if (id == 4) evaluation = Evaluation::failed(Verdict::wrong_result, "no");
      evaluation.features.set("energy_joules", joules[id]);
      if (id != 4) scalar = *Objectives::parse(objectives).try_judge(evaluation);
      add(id, static_cast<std::uint32_t>(id % 2), std::move(evaluation));
    }
  }
  double scalar = 0;
};

}  // namespace

TEST_CASE("pareto_front_of: the right trials that no other one beats, by the first objective") {
  const FrontRun stored;
  const ParetoFront front = pareto_front_of(stored.store, stored.run);
  REQUIRE(front.trials.size() == 3);
  CHECK(front.trials[0].id == TrialId{1});
  CHECK(front.trials[1].id == TrialId{3});
  CHECK(front.trials[2].id == TrialId{0});
  CHECK(front.trials[1].values == std::vector<double>{2e-3, 0.5});
  CHECK(front.trials[0].settings.find("TILE=8") != std::string::npos);
}

TEST_CASE("best_trial_by: each objective has its own best, and a name that is none of them is said") {
  const FrontRun stored;
  CHECK(best_trial_by(stored.store, stored.run, "time")->outcome.id == TrialId{1});
  CHECK(best_trial_by(stored.store, stored.run, "per_joule")->outcome.id == TrialId{0});
  CHECK_THROWS_WITH_AS((void)best_trial_by(stored.store, stored.run, "per_joul"),
                       doctest::Contains("did you mean per_joule?"), ConfigError);
  CHECK_THROWS_WITH_AS((void)best_trial_by(stored.store, stored.run, "size"),
                       doctest::Contains("it has: time, per_joule"), ConfigError);
  const StoredRun plain;
  CHECK(best_trial_by(plain.store, plain.run, "time")->outcome.id == TrialId{1});
  CHECK_THROWS_AS((void)best_trial_by(plain.store, plain.run, "energy"), ConfigError);
}

TEST_CASE("objectives_of: what a store of others says, or the time") {
  RunInfo info;
  for (const char* options : {"", "[]", "{}", R"({"objectives":3})", R"({"objectives":"time energy"})"}) {
    CAPTURE(options);
    info.options = options;
    CHECK(objectives_of(info).only_time());
  }
  info.options = R"({"objectives":"time; energy_joules"})";
  CHECK(objectives_of(info).rows().size() == 2);
}

TEST_CASE("format_objectives: each value with its name and direction, and the scalar of several") {
  Outcome outcome;
  outcome.evaluation = Evaluation::succeeded(2e-3);
  outcome.evaluation.features.set("energy_joules", 4.0);
  outcome.evaluation.features.set("steps", 12.0);
  outcome.evaluation.features.set("unchecked.steps", 1.0);
  outcome.objective = 0.125;
  CHECK(format_objectives({}, outcome) == "2.000 ms");
  CHECK(format_objectives(Objectives::parse("maximize rate = 1 / time"), outcome) ==
        "rate 500, higher is better");
  CHECK(format_objectives(Objectives::parse("time; energy_joules; steps"), outcome) ==
        "time 2.000 ms, lower is better; energy_joules 4, lower is better; steps 12, lower is better, as the "
        "kernel says; scalar 0.125");
  CHECK(format_objectives(Objectives::parse("watts"), outcome) == "2.000 ms");  // never observed
}

TEST_CASE("format_best: in the words of what was minimized or maximized") {
  RunInfo info;
  CHECK(format_best(info, 1e-3) == "1.000 ms");
  info.options = R"({"objectives":"maximize rate = 8 / time"})";
  CHECK(format_best(info, 0.25) == "rate 4");
  info.options = R"({"objectives":"time; energy_joules"})";
  CHECK(format_best(info, 0.25) == "scalar 0.25");
}

TEST_CASE("reports: the summary, the page, the text and the winner's files say the objectives") {
  const FrontRun stored;
  const std::string summary = run_summary(stored.store, stored.run);
  CHECK(summary.find("          per_joule: ") != std::string::npos);
  CHECK(summary.find(", higher is better\n") != std::string::npos);
  CHECK(summary.find("no improvement") == std::string::npos);  // pairs say nothing of these objectives
  CHECK(summary.find("front     3 trials that no other one beats in all objectives\n") != std::string::npos);
  const ReportModel report = report_of(stored.store, stored.run);
  const std::string json = report_json(std::span(&report, 1));
  CHECK(json.find(R"("front":{"objectives":[{"name":"time","formula":"time","better":"lower"},)"
                  R"({"name":"per_joule","formula":"1 / energy_joules","better":"higher"}],)"
                  R"("trials":[{"trial":1,"values":[0.001,0.125]})") != std::string::npos);
  CHECK(report_markdown(std::span(&report, 1)).find("## Pareto front") != std::string::npos);
  const std::string source = winner_source(stored.store, stored.run, stored.problem, TrialId{0});
  CHECK(source.find("//   per_joule  1, higher is better") != std::string::npos);
  CHECK(source.find("trial 0") != std::string::npos);

  const StoredRun plain;
  const ReportModel times = report_of(plain.store, plain.run);
  CHECK(report_json(std::span(&times, 1)).find(R"("front":null)") != std::string::npos);
  CHECK(run_summary(plain.store, plain.run).find("front") == std::string::npos);
}

TEST_CASE("reports: a metric that nothing checks is named as what the kernel says") {
  StoredRun stored;
  stored.run = stored.store.begin_run({.name = "told",
                                       .problem = stored.problem.name,
                                       .policy = "nsga2",
                                       .evaluator = "host",
                                       .options = R"({"objectives":"time; work = 2 * steps; registers"})"});
  Evaluation evaluation = Evaluation::succeeded(1e-3);
  evaluation.features.set("steps", 8);
  evaluation.features.set("unchecked.steps", 1);
  evaluation.features.set("registers", 40);
  stored.add(0, 0, std::move(evaluation));
  const std::string summary = run_summary(stored.store, stored.run);
  CHECK(summary.find("work: 16, lower is better, as the kernel says\n") != std::string::npos);
  CHECK(summary.find("registers: 40, lower is better\n") != std::string::npos);
  CHECK(pareto_front_of(stored.store, stored.run).unchecked == std::vector<std::string>{"work"});
  const ReportModel report = report_of(stored.store, stored.run);
  CHECK(report_json(std::span(&report, 1))
            .find(R"({"name":"work","formula":"2 * steps","better":"lower","unchecked":true},)"
                  R"({"name":"registers","formula":"registers","better":"lower"})") != std::string::npos);
  CHECK(report_markdown(std::span(&report, 1)).find("work (lower is better, as the kernel says)") !=
        std::string::npos);
  const std::string source = winner_source(stored.store, stored.run, stored.problem, TrialId{0});
  CHECK(source.find("//   work       16, lower is better, as the kernel says\n") != std::string::npos);
}
