// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>

#include "evaluator/host/support.hpp"
#include "kernelsearch/judge/trivial_answers.hpp"
#include "support/approx.hpp"
#include "support/metric_problem.hpp"

using namespace kernelsearch;
using support::quick;

namespace {

/// The evaluation of the default configuration, with `from` in its code replaced by `to`.
Evaluation judged_metric(const Problem& problem, const std::string& from = {}, const std::string& to = {}) {
  Kernel kernel = problem.kernel;
  if (!from.empty()) {
    REQUIRE(kernel.regions.device.find(from) != std::string::npos);
    kernel.regions.device.replace(kernel.regions.device.find(from), from.size(), to);
  }
  HostEvaluator evaluator(problem, quick());
  return evaluator.evaluate(
      {std::make_shared<const Kernel>(std::move(kernel)), problem.kernel.space.default_config()}, {});
}

/// The problem with `from` in its text replaced by `to`.
Problem changed_metric(const std::string& from, const std::string& to) {
  std::string text = support::metric_problem_text;
  REQUIRE(text.find(from) != std::string::npos);
  text.replace(text.find(from), from.size(), to);
  return parse_problem(text, ".");
}

}  // namespace

TEST_CASE("HostEvaluator: an output that is not checked is a feature, over the shapes as times are") {
  const Evaluation evaluation = judged_metric(support::metric_problem());
  REQUIRE_MESSAGE(evaluation.verdict == Verdict::ok, evaluation.reason);
  CHECK(evaluation.features.find("steps") == support::halving_steps);
  CHECK(evaluation.features.find("unchecked.steps") == 1.0);
  CHECK(!evaluation.features.find("mean"));  // no objective reads it

  Problem problem = changed_metric("\"schema\": 1,", "\"schema\": 1, \"aggregate\": \"geometric_mean\",");
  const double few = 40 * 100, many = 40 * 400;
  CHECK(judged_metric(problem).features.find("steps") ==
        kernelsearch::test::approx(std::cbrt(few * many * many)));
}

TEST_CASE(
    "HostEvaluator: an output of one number is a feature where an objective reads it, and stays checked") {
  Problem problem = support::metric_problem();
  problem.objectives = Objectives::parse("time; average = mean / 3");
  const Evaluation evaluation = judged_metric(problem);
  REQUIRE_MESSAGE(evaluation.verdict == Verdict::ok, evaluation.reason);
  const double mean = evaluation.features.find("mean").value_or(0) / 3;  // the weights are 1 and 2
  CHECK(mean > 0.68);                                                    // the root for a = 1
  CHECK(mean < 1.0);                                                     // and that for a = 2
  CHECK(!evaluation.features.find("unchecked.mean"));
  CHECK(judged_metric(problem, "sum / n", "0.5 * sum / n").verdict == Verdict::wrong_result);
}

TEST_CASE("HostEvaluator: a metric is the kernel's word, and no way round the judge for anything else") {
  const Problem problem = support::metric_problem();
  const Evaluation lie = judged_metric(problem, "*steps = count", "*steps = 1");
  CHECK(lie.verdict == Verdict::ok);
  CHECK(lie.features.find("steps") == 3.0);
  CHECK(lie.features.find("unchecked.steps") == 1.0);
  CHECK(judged_metric(problem, "x[i] = static_cast<float>(y)",
                      "x[i] = static_cast<float>(y * (i == 7 ? 2 : 1))")
            .verdict == Verdict::wrong_result);
  const Evaluation silent = judged_metric(problem, "*steps = count", "(void)count");
  CHECK(silent.verdict == Verdict::wrong_result);
  CHECK(silent.reason == "it left its metric steps unwritten (shape few)");
}

TEST_CASE(
    "HostEvaluator: a metric that is no finite number is wrong, and its name takes nothing from the judge") {
  std::string text = support::metric_problem_text;
  const auto replace = [&text](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  replace("\"i64\"", "\"f64\"");
  replace("std::int64_t* steps, float", "double* steps, float");
  replace("std::int64_t* steps, real* mean", "real* steps, real* mean");
  replace("steps", "library_bytes");
  const Problem problem = parse_problem(text, ".");
  const Evaluation evaluation = judged_metric(problem);
  REQUIRE_MESSAGE(evaluation.verdict == Verdict::ok, evaluation.reason);
  CHECK(evaluation.features.find("library_bytes").value_or(0) != support::halving_steps);
  CHECK(!evaluation.features.find("unchecked.library_bytes"));
  for (const char* value : {"1.0 / (n - n)", "0.0 / (n - n)"})
    CHECK(judged_metric(problem, "library_bytes = count", std::string("library_bytes = ") + value).verdict ==
          Verdict::wrong_result);
}

TEST_CASE("trivial answers: what is not checked is not tried, and everything else is") {
  CHECK(try_trivial_answers(support::metric_problem(), quick()).passed.empty());
  const Problem counted = changed_metric("*steps = 0;", "*steps = n;");  // zeros are another answer
  CHECK(try_trivial_answers(counted, quick()).passed.empty());
  const Problem loose = changed_metric(R"("name": "mean", "type": "f32", "size": 1, "role": "out")",
                                       R"("name": "mean", "type": "f32", "size": 1, "role": "out",
                                   "tolerance": {"absolute": 9})");
  const TrivialAnswers tried = try_trivial_answers(loose, quick());
  REQUIRE(!tried.passed.empty());
  CHECK(tried.passed.front().what.find("output mean") != std::string::npos);
}
