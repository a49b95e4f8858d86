// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/objectives.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

Evaluation evaluation_of(double seconds, double joules, double registers = 32) {
  Evaluation evaluation = Evaluation::succeeded(seconds);
  evaluation.features.set("energy_joules", joules);
  evaluation.features.set("gpu.registers", registers);
  return evaluation;
}

std::string objectives_fault(const char* text) {
  const Result<Objectives> parsed = Objectives::try_parse(text);
  return parsed ? "" : parsed.error().text();
}

}  // namespace

TEST_CASE("Objectives: the time alone where nothing else is said") {
  for (const char* text : {"", "  ", "time", " minimize time "}) {
    CAPTURE(text);
    const Objectives objectives = Objectives::parse(text);
    CHECK(objectives.only_time());
    CHECK(objectives.text() == "time");
    Evaluation evaluation = evaluation_of(2e-3, 1);
    CHECK(*objectives.try_judge(evaluation) == 2e-3);
    CHECK(!evaluation.features.find("objective.time"));
  }
}

TEST_CASE("Objectives: values are formulas over time and features, and come back as text") {
  const Objectives objectives = Objectives::parse(
      "time; edp = time * energy_joules; maximize per_register = 1 / gpu.registers weight 2");
  REQUIRE(objectives.rows().size() == 3);
  CHECK(objectives.text() ==
        "time; edp = time * energy_joules; maximize per_register = 1 / gpu.registers weight 2.0");
  CHECK(Objectives::parse(objectives.text()).text() == objectives.text());
  const auto values = objectives.try_values(evaluation_of(2e-3, 5));
  REQUIRE(values.ok());
  CHECK(*values == std::vector<double>{2e-3, 1e-2, 1.0 / 32});
  const auto losses = objectives.try_losses(evaluation_of(2e-3, 5));
  REQUIRE(losses.ok());
  CHECK((*losses)[2] == 32);  // the reciprocal of what is maximized
  CHECK(objectives.find("edp") == &objectives.rows()[1]);
  CHECK(objectives.find("nothing") == nullptr);
  CHECK(objectives.reads({"energy_"}));
  CHECK(!objectives.reads({"sass.", "code."}));
}

TEST_CASE("Objectives: one number stands for several, in any units") {
  const Objectives objectives = Objectives::parse("time; energy_joules weight 3");
  Evaluation evaluation = evaluation_of(16, 1);
  const Result<double> scalar = objectives.try_judge(evaluation);
  REQUIRE(scalar.ok());
  CHECK(*scalar == approx(2));  // (16^1 * 1^3)^(1/4)
  CHECK(evaluation.features.find("objective.time") == 16);
  CHECK(evaluation.features.find("objective.energy_joules") == 1);
  // In another unit both candidates change by the same factor: the order stays.
  Evaluation other = evaluation_of(8, 2);
  const double ratio = *objectives.try_judge(other) / *scalar;
  Evaluation in_mj = evaluation_of(16, 1000), other_in_mj = evaluation_of(8, 2000);
  CHECK(*objectives.try_judge(other_in_mj) / *objectives.try_judge(in_mj) == approx(ratio));
  // One that is maximized is lower where its value is higher.
  const Objectives throughput = Objectives::parse("maximize rate = 1 / time");
  Evaluation fast = evaluation_of(1, 1), slow = evaluation_of(2, 1);
  CHECK(*throughput.try_judge(fast) < *throughput.try_judge(slow));
  CHECK(slow.features.find("objective.rate") == 0.5);
}

TEST_CASE("Objectives: what was not observed, or is no positive number, is said") {
  const auto fault = [](const char* text, const Evaluation& evaluation) {
    const auto values = Objectives::parse(text).try_values(evaluation);
    return values ? std::string() : values.error().text();
  };
  const Evaluation seen = evaluation_of(1, 0);
  CHECK(fault("e = energy_joule", seen).find("did you mean energy_joules?") != std::string::npos);
  CHECK(fault("e = energy_joules", seen).find("not a finite number above 0") != std::string::npos);
  CHECK(fault("e = energy_joules", seen).find("1 + x") != std::string::npos);
  CHECK(fault("e = 1 / energy_joules", seen).find("objective e has no value") != std::string::npos);
  CHECK(fault("e = 'text'", seen).find("objective e is not a number") != std::string::npos);
  CHECK(fault("e = 1 + energy_joules", seen).empty());
}

TEST_CASE("Objectives: misuse gets a sentence") {
  CHECK(objectives_fault("time; = 3").find("no name") != std::string::npos);
  CHECK(objectives_fault("time energy").find("not understood") != std::string::npos);
  CHECK(objectives_fault("time; time").find("the same name") != std::string::npos);
  CHECK(objectives_fault("time = 3").find("another name") != std::string::npos);
  CHECK(objectives_fault("e = 1 +").find("objectives") == std::string::npos);
  CHECK(!objectives_fault("e = 1 +").empty());
  CHECK(objectives_fault("time weight 0").find("weight") != std::string::npos);
  CHECK(objectives_fault("time;").find("no name") != std::string::npos);
  CHECK_THROWS_AS((void)Objectives::parse("time energy"), ConfigError);
}

TEST_CASE("pareto_front: what nothing else beats, without failures and repetitions") {
  using Losses = std::vector<std::vector<double>>;
  CHECK(pareto_front(Losses{}).empty());
  CHECK(pareto_front(Losses{{3, 1}, {2, 2}, {}, {2, 3}, {1, 3}, {2, 2}}) ==
        std::vector<std::size_t>{0, 1, 4});
  CHECK(dominates(std::vector<double>{1, 2}, std::vector<double>{1, 3}));
  CHECK(!dominates(std::vector<double>{1, 2}, std::vector<double>{1, 2}));
  CHECK(!dominates(std::vector<double>{1, 4}, std::vector<double>{2, 3}));
}
