// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/export_plan.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <optional>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/run/run.hpp"
#include "kernelsearch/run/use_plan.hpp"
#include "kernelsearch/runtime/settings_table.hpp"
#include "run/support.hpp"

using namespace kernelsearch;
using run_test::Place;
using support::small_problem;
using support::Words;

namespace {

/// A problem with two timed shapes and one that is only checked.
Problem two_shapes() {
  auto json = nlohmann::json::parse(support::problem_text);
  json["shapes"] = nlohmann::json::parse(
      R"([{"name": "small", "n": 64}, {"name": "large", "n": 5000}, {"name": "odd", "n": 37, "weight": 0}])");
  return parse_problem(json.dump(), ".");
}

/// How fast a configuration is on a shape: UNROLL 8 is best on the large one, UNROLL 1 on the small one.
double seconds_on(const std::string& shape, const Candidate& c) {
  const double unroll = to_number(c.kernel->space.value(c.config, 0));
  const double block = to_number(c.kernel->space.value(c.config, 1));
  return (shape == "large" ? 10.0 / unroll : unroll) * (1.0 + block / 1000);
}

/// Judges by that rule, and compares in pairs over the shapes with a weight.
struct Ruled : Words {
  std::shared_ptr<int> compared = std::make_shared<int>(0);
  double factor = 1.0;                ///< what pairs say differs from what the search measured
  std::optional<Interval> seen = {};  ///< of the search's own pairs with the default

  Staged<Artifact> build(const Candidate& candidate, const EvaluationContext&) const {
    return {{}, Artifact{candidate}};
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext&) const {
    const Candidate& c = staged.artifact->candidate;
    double sum = 0;
    Evaluation evaluation = Evaluation::succeeded(1);
    for (const char* name : {"small", "large"}) {
      ShapeMeasurement shape;
      shape.shape = name;
      shape.median = seconds_on(name, c);
      shape.samples = {shape.median};
      shape.interval = {shape.median, shape.median};
      if (seen) shape.speedup = Speedup{(seen->low + seen->high) / 2, *seen, 3};
      sum += shape.median;
      evaluation.measurement.shapes.push_back(shape);
    }
    evaluation.measurement.seconds = sum;
    return evaluation;
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) const {
    return evaluate_in_stages(*this, candidate, context);
  }
  std::optional<Speedup> compare(const Candidate& candidate, const Candidate& champion,
                                 const PairOptions&) const {
    ++*compared;
    double ours = 0, theirs = 0;
    for (const Shape& shape : about.shapes)
      if (shape.weight > 0)
        ours += seconds_on(shape.name, candidate), theirs += seconds_on(shape.name, champion);
    const double ratio = theirs / ours * factor;
    return Speedup{ratio, {ratio * 0.99, ratio * 1.01}, 96};
  }
};

Ruled ruled(const Problem& problem) {
  return Ruled{Words{problem}};
}

struct Tuned {
  Place place;
  Problem problem = two_shapes();
  RunId run{};

  explicit Tuned(std::uint64_t seed = 0, const std::string& device = "AMD EPYC, 2 cores",
                 std::optional<Interval> seen = {}) {
    if (seen) problem.reference.source.clear();  // the default is the reference
    RunParts parts;
    Ruled judge = ruled(problem);
    judge.device = device;
    judge.seen = seen;
    parts.evaluator = std::move(judge);
    parts.store = place.store.get();
    Run tuning = Run::start(problem, {.policy = "random", .budget = "24", .seed = seed}, std::move(parts));
    tuning.to_end();
    run = tuning.id();
  }
  PlanExport exported(const PlanExportOptions& options) {
    return export_plan(*place.store, run, problem, options);
  }
};

std::shared_ptr<int> compared = std::make_shared<int>(0);

PairingMaker measuring(double factor = 1.0) {
  return [factor](const Problem& problem) -> AnyEvaluator {
    Ruled judge = ruled(problem);
    judge.device = "AMD EPYC";
    judge.factor = factor;
    judge.compared = compared;
    return judge;
  };
}

Candidate at(const Problem& problem, const std::vector<NamedValue>& values) {
  std::vector<Value> all;
  for (const auto& [name, value] : values) all.push_back(value);
  return {std::make_shared<const Kernel>(problem.kernel), problem.kernel.space.config_of(all).value()};
}

}  // namespace

TEST_CASE("export_plan: each shape has what pairs proved faster than the default on it") {
  Tuned tuned;
  // The default is the fastest on the small shape, which needs no proof; what may serve the large one does.
  const PlanExport unproven = tuned.exported({});
  CHECK(unproven.plan.parts().front().entries.empty());
  REQUIRE(unproven.notes.size() == 2);
  CHECK_MESSAGE(unproven.notes[1].find("not measured in pairs with the default") != std::string::npos,
                unproven.notes[1]);
  *compared = 0;
  const PlanExport made = tuned.exported({.measure = measuring()});
  const int first = *compared;
  CHECK(first >= 1);
  REQUIRE(made.plan.parts().size() == 1);
  const ProblemPlan& part = made.plan.parts().front();
  CHECK(part.device == "AMD EPYC");
  CHECK(part.problem_digest == problem_digest(tuned.problem));
  CHECK(part.kernel_digest == kernel_digest(tuned.problem.kernel));
  CHECK(part.never_worse);
  const auto timed = part.entries.size() + part.default_kept.size();
  CHECK(timed == 2);
  // The large shape is served by what the search found fastest on it, which is not the overall winner's
  // business.
  double fastest = 1e9;
  for (const StoredTrial& trial : tuned.place.store->trials(tuned.run))
    fastest = std::min(fastest, trial.outcome.evaluation.measurement.shapes.at(1).median);
  REQUIRE_FALSE(part.entries.empty());
  const PlanEntry& large = part.entries.back();
  CHECK(large.shape == std::vector<NamedValue>{{"n", std::int64_t{5000}}});
  CHECK(seconds_on("large", at(tuned.problem, large.values)) == fastest);
  CHECK(large.proven());
  CHECK(large.over_default->pairs == 96);
  CHECK(large.toolchain == "a scripted compiler 1.0");
  // The default, UNROLL 1, is as fast as anything on the small shape.
  REQUIRE(part.default_kept.size() == 1);
  CHECK(part.default_kept[0].shape == std::vector<NamedValue>{{"n", std::int64_t{64}}});

  // The pairs are in the store now: the same plan, without measuring.
  const PlanExport again = tuned.exported({.measure = measuring()});
  CHECK(*compared == first);
  CHECK(again.plan.text() == made.plan.text());
  CHECK(tuned.exported({}).plan.text() == made.plan.text());
}

TEST_CASE(
    "export_plan: a search's own pairs with the default are a proof, and where they are none more are "
    "taken") {
  Tuned proven(0, "AMD EPYC, 2 cores", Interval{1.2, 1.4});
  const int first = *compared;
  const PlanExport as_seen = proven.exported({.measure = measuring()});
  CHECK(*compared == first);
  REQUIRE_FALSE(as_seen.plan.parts().front().entries.empty());
  CHECK(as_seen.plan.parts().front().entries[0].over_default->pairs == 3);

  Tuned unproven(0, "AMD EPYC, 2 cores", Interval{0.84, 1.1});
  CHECK(unproven.exported({}).plan.parts().front().entries.empty());
  CHECK(*compared == first);
  const PlanExport measured = unproven.exported({.measure = measuring()});
  CHECK(*compared > first);
  REQUIRE(measured.plan.parts().front().entries.size() == 1);
  CHECK(measured.plan.parts().front().entries[0].over_default->pairs == 96);
  CHECK(unproven.exported({}).plan.text() == measured.plan.text());  // kept
}

TEST_CASE("export_plan: what pairs do not prove faster is not in it, unless anything is wanted") {
  Tuned tuned;
  const PlanExport made = tuned.exported({.measure = measuring(0.01)});
  CHECK(made.plan.parts().front().entries.empty());
  CHECK(made.plan.parts().front().default_kept.size() == 2);
  const PlanExport any = tuned.exported({.never_worse = false});
  CHECK_FALSE(any.plan.parts().front().never_worse);
  CHECK_FALSE(any.plan.parts().front().entries.empty());
  CHECK(Plan::parse(any.plan.text(), "any").text() == any.plan.text());
}

TEST_CASE("export_plan: processes that tuned the same data agree, whatever the order they saw it in") {
  std::string text;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    Tuned tuned(seed);
    Plan plan = tuned.exported({.measure = measuring()}).plan;
    // Trials are numbered in the order in which they were tried.
    std::vector<ProblemPlan> parts = plan.parts();
    for (ProblemPlan& part : parts)
      for (auto* entries : {&part.entries, &part.default_kept})
        for (PlanEntry& entry : *entries) entry.trial = 0;
    const std::string now = Plan(parts).text();
    if (text.empty()) text = now;
    CHECK(now == text);
  }
}

TEST_CASE("export_plan: refuses another problem, device or toolchain, and runs without a winner") {
  Tuned tuned;
  Problem other = tuned.problem;
  other.function = "thrice";
  CHECK_THROWS_WITH_AS((void)export_plan(*tuned.place.store, tuned.run, other),
                       doctest::Contains("not the one"), ConfigError);
  Problem changed = tuned.problem;
  changed.kernel.regions.device += "\n";
  CHECK_THROWS_WITH_AS((void)export_plan(*tuned.place.store, tuned.run, changed),
                       doctest::Contains("own kernel"), ConfigError);
  const PairingMaker elsewhere = [](const Problem& problem) -> AnyEvaluator {
    Ruled judge = ruled(problem);
    judge.device = "Another";
    return judge;
  };
  CHECK_THROWS_WITH_AS((void)tuned.exported({.measure = elsewhere}),
                       doctest::Contains("AMD EPYC then, Another now"), ConfigError);
  const RunInfo info = tuned.place.store->run(tuned.run).info;
  const RunId empty = tuned.place.store->begin_run(info);
  CHECK_THROWS_WITH_AS((void)export_plan(*tuned.place.store, empty, tuned.problem),
                       doctest::Contains("no winner"), ConfigError);
}

TEST_CASE("check_plan and apply_plan: from a run to the files of another build") {
  Tuned tuned;
  const Plan plan = tuned.exported({.measure = measuring()}).plan;
  PlanCheck check = check_plan(plan, tuned.problem, "AMD EPYC, 64 cores");
  CHECK(check.faults.empty());
  CHECK(check.parts.size() == 1);
  const auto fault = [&](const Problem& problem, const std::string& device) {
    const PlanCheck found = check_plan(plan, problem, device);
    CHECK_THROWS_AS((void)apply_plan(plan, problem, device, tuned.place.folder / "never"), ConfigError);
    CHECK_FALSE(std::filesystem::exists(tuned.place.folder / "never"));
    return found.faults.empty() ? std::string() : found.faults.front();
  };
  CHECK(fault(tuned.problem, "Another").find("another device: AMD EPYC in the plan, Another here") !=
        std::string::npos);
  Problem other = tuned.problem;
  other.function = "thrice";
  CHECK(fault(other, "AMD EPYC").find("the problem has changed") != std::string::npos);
  other = tuned.problem;
  other.kernel.regions.device += "\n";
  CHECK(fault(other, "AMD EPYC").find("the kernel or its space has changed") != std::string::npos);
  other = tuned.problem;
  other.name = "thrice";
  CHECK(fault(other, "AMD EPYC").find("says nothing of the problem thrice; it has twice") !=
        std::string::npos);

  const auto folder = tuned.place.folder / "applied";
  AppliedPlan applied = apply_plan(plan, tuned.problem, "AMD EPYC", folder);
  CHECK(applied.values.empty());  // two shapes, two configurations
  CHECK(applied.files.size() == 1);
  applied =
      apply_plan(plan, tuned.problem, "AMD EPYC", folder, std::vector<NamedValue>{{"n", std::int64_t{5000}}});
  CHECK(applied.values == plan.parts()[0].entries.back().values);
  CHECK(applied.files.size() == 3);
  for (const auto& [what, file] : applied.files) CHECK(std::filesystem::exists(file));
  applied =
      apply_plan(plan, tuned.problem, "AMD EPYC", folder, std::vector<NamedValue>{{"n", std::int64_t{64}}});
  CHECK(applied.values == plan.parts()[0].default_values);
  CHECK(applied.why.find("the default") == 0);
  // The table is the same however often a plan is applied, and has the default where it stays.
  const SettingsTable table = SettingsTable::load(folder / "twice_table.jsonl");
  CHECK(table.entries().size() == 2);
  const std::vector<NamedValue> small{{"n", std::int64_t{64}}};
  REQUIRE(table.best_for("twice", "AMD EPYC", small));
  CHECK(table.best_for("twice", "AMD EPYC", small)->values == plan.parts()[0].default_values);
}

TEST_CASE("check_plan: settings that break a constraint or have no such value are faults") {
  Tuned tuned;
  const Plan plan = tuned.exported({.measure = measuring()}).plan;
  const auto fault = [&](const char* name, Value value) {
    std::vector<ProblemPlan> parts = plan.parts();
    for (NamedValue& one : parts[0].entries[0].values)
      if (one.first == name) one.second = value;
    const PlanCheck found = check_plan(Plan(parts), tuned.problem, "AMD EPYC");
    return found.faults.empty() ? std::string() : found.faults.front();
  };
  CHECK(fault("UNROLL", std::int64_t{3}).find("no such value of UNROLL") != std::string::npos);
  CHECK(fault("UNROLL", std::int64_t{8}).find("UNROLL * BLOCK <= 256") != std::string::npos);
}
