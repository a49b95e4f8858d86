// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/judge/trivial_answers.hpp"

#include <doctest/doctest.h>

#include "evaluator/host/support.hpp"
#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;
using support::quick;

namespace {

/// y of n elements from x of n * m, by a body with n, m, x and y.
Problem problem_of(const std::string& body, const std::string& input, const std::string& output,
                   const std::string& more = {}, int n = 24, int m = 96) {
  const std::string signature = "(int n, int m, const real* x, real* y) { " + body + " }";
  return parse_problem(
      R"({"schema": 1, "name": "p", "function": "f", "arguments": [{"name": "n", "type": "i32"}, {"name": "m", "type": "i32"},
        {"name": "x", "type": "f32", "size": "n*m", )" +
          input + R"(}, {"name": "y", "type": "f32", "size": "n", "role": "out", )" + output +
          R"(}], "kernel": {"device": {"text": "void f() {}"}}, "shapes": [{"name": "s", "n": )" +
          std::to_string(n) + R"(, "m": )" + std::to_string(m) +
          R"(}, {"name": "odd", "n": 3, "m": 5, "weight": 0}],
        "reference": {"function": "r", "source": {"text": )" +
          support::quoted("void r" + signature) + "}}" + more + "}",
      support::sources);
}

std::string passed(const Problem& problem) {
  HostOptions options = quick();
  options.check.trivial_seconds = 60;  // all are tried, also beside other programs
  const TrivialAnswers tried = try_trivial_answers(problem, options);
  std::string all;
  for (const TrivialAnswer& one : tried.passed) all += one.what + "\n";
  return all;
}

const std::string sums =
    "for (int i = 0; i < n; ++i) { y[i] = 0; for (int j = 0; j < m; ++j) y[i] += x[i * m + j]; }";
const std::string tight = R"("tolerance": {"absolute": 1e-4, "relative": 1e-4})";

}  // namespace

TEST_CASE("trivial answers: none passes for sums within tolerances that tell them apart") {
  CHECK(passed(problem_of(sums, R"("low": -1, "high": 1)", tight)) == "");
}

TEST_CASE(
    "trivial answers: zeros where values are smaller than the tolerance, with output, shape and bound") {
  const std::string what = passed(
      problem_of(sums, R"("low": -1e-6, "high": 1e-6)", R"("tolerance": {"absolute": 1e-3, "relative": 0})"));
  CAPTURE(what);
  CHECK(what.find("an output of zeros passes as output y within 0.001 + 0 * |expected| (shape s)") == 0);
}

TEST_CASE("trivial answers: a constant where values differ by less than the tolerance") {
  const std::string what = passed(
      problem_of("for (int i = 0; i < n; ++i) y[i] = 5 + x[i];", R"("low": -1e-4, "high": 1e-4)", tight));
  CAPTURE(what);
  CHECK_MESSAGE(what.find(" passes") != std::string::npos, what);  // which of them is met first is drawn
}

TEST_CASE("trivial answers: the mean of the output where its elements are alike and calls are not") {
  const std::string what =
      passed(problem_of("real s = 0; for (int j = 0; j < n * m; ++j) s += x[j]; for (int i = 0; i < n; ++i) "
                        "y[i] = s + x[i] * real(1e-3);",
                        R"("low": -1, "high": 1)", R"("tolerance": {"absolute": 1e-2, "relative": 0})"));
  CAPTURE(what);
  CHECK(what.find("the mean of the output passes as output y") == 0);
}

TEST_CASE("trivial answers: an input that is nearly the result, and not one that is the result") {
  CHECK(passed(problem_of("for (int i = 0; i < n; ++i) y[i] = x[i] + real(1e-5);", R"("low": -1, "high": 1)",
                          tight, "", 24, 1))
            .find("input x passes as output y") == 0);
  CHECK(passed(problem_of("for (int i = 0; i < n; ++i) y[i] = x[i];", R"("low": -1, "high": 1)", tight, "",
                          24, 1)) == "");
}

TEST_CASE(
    "trivial answers: half of a row that does not matter within the tolerance, and one that never matters") {
  const std::string half =
      "for (int i = 0; i < n; ++i) { y[i] = 0; for (int j = 0; j < m; ++j) y[i] += "
      "(j < m / 2 ? real(1) : real(1e-7)) * x[i * m + j]; }";
  const std::string what = passed(problem_of(half, R"("low": -1, "high": 1)", tight));
  CAPTURE(what);
  CHECK(what.find("without half of input x (of each 96 elements the second half was 0) passes") !=
        std::string::npos);
  CHECK(passed(problem_of("for (int i = 0; i < n; ++i) y[i] = x[i * m];", R"("low": -1, "high": 1)",
                          tight)) == "");
}

TEST_CASE("trivial answers: the mean of a part of a row, within a tolerance that is wider than its scatter") {
  const std::string means =
      "for (int i = 0; i < n; ++i) { y[i] = 0; for (int j = 0; j < m; ++j) y[i] += x[i * m + j] / m; }";
  const std::string loose = R"("tolerance": {"absolute": 2e-2, "relative": 0})",
                    range = R"("low": 1, "high": 2)";
  const std::string what = passed(problem_of(means, range, loose, "", 2, 32768));
  CAPTURE(what);
  CHECK(what.find(
            "without half of input x (of each 32768 elements every second 16 were copies of those before) "
            "passes") != std::string::npos);
  CHECK(passed(problem_of(means, range, R"("tolerance": {"absolute": 1e-5, "relative": 0})", "", 2, 32768)) ==
        "");
}

TEST_CASE("trivial answers: a reason leaves them out, and a search is refused without one") {
  const std::string loose = R"("tolerance": {"absolute": 1e-3, "relative": 0})",
                    tiny = R"("low": -1e-6, "high": 1e-6)";
  const Problem bad = problem_of(sums, tiny, loose),
                reasoned = problem_of(sums, tiny, loose, R"(, "trivial_answers": "a test")");
  CHECK(passed(reasoned) == "");
  CHECK(try_trivial_answers(reasoned, quick()).left_out ==
        std::vector<std::string>{"trivial answers: a test"});
  CHECK_THROWS_WITH_AS(refuse_trivial_answers(bad, try_trivial_answers(bad, quick())),
                       doctest::Contains("an output of zeros passes"), ConfigError);
  refuse_trivial_answers(reasoned, {});
}

TEST_CASE("trivial answers: what an expensive reference leaves no time for is said") {
  HostOptions options = quick();
  options.check.trivial_seconds = 1e-9;
  const TrivialAnswers tried =
      try_trivial_answers(problem_of(sums, R"("low": -1, "high": 1)", tight), options);
  CHECK(tried.passed.empty());
  REQUIRE(tried.left_out.size() == 1);
  CHECK(tried.left_out[0].find("trivial answers on shape s: not all tried") == 0);
}
