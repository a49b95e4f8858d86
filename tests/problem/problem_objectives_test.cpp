// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "problem/problem_texts.hpp"
#include "support/metric_problem.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;

namespace {

Problem problem_with_objectives(const std::string& objectives) {
  std::string text = small_problem;
  text.insert(text.find('{') + 1, "\"objectives\": " + objectives + ", ");
  return parse_problem(text, ".");
}

}  // namespace

TEST_CASE("problem.json: objectives are read, written again, and no part of its identity") {
  const Problem problem = problem_with_objectives(R"(["time", "maximize rate = 2 / time weight 3"])");
  CHECK(problem.objectives.text() == "time; maximize rate = 2 / time weight 3.0");
  CHECK(parse_problem(problem_json(problem), ".").objectives.text() == problem.objectives.text());
  const Problem plain = parse_problem(small_problem, ".");
  CHECK(plain.objectives.only_time());
  CHECK(problem_json(plain).find("objectives") == std::string::npos);
  CHECK(problem_digest(plain) == problem_digest(problem));
  CHECK(problem_with_objectives(R"(["time"])").objectives.only_time());
}

TEST_CASE("problem.json: what is wrong with objectives is said at its place") {
  for (const auto& entry : {std::pair{"[]", "is empty"},
                            {"3", "objectives"},
                            {R"(["time; size"])", "a semicolon"},
                            {R"(["time energy"])", "is not understood"},
                            {R"(["a = 1 +"])", "objectives"}}) {
    const char* text = entry.first;  // no structured binding: clang 14 captures none
    CAPTURE(text);
    CHECK_THROWS_WITH_AS((void)problem_with_objectives(text), doctest::Contains(entry.second), ConfigError);
  }
}

TEST_CASE("problem.json: an output of one number may be left to the kernel's word") {
  const Problem problem = support::metric_problem();
  const std::string text = problem_json(problem);
  CHECK(text.find("\"check\": false") != std::string::npos);
  CHECK(text.find("\"tolerance\"") == std::string::npos);
  CHECK(problem_digest(parse_problem(text, ".")) == problem_digest(problem));
  std::string checked = support::metric_problem_text;
  checked.replace(checked.find(", \"check\": false"), 16, ", \"check\": true");
  CHECK(problem_digest(parse_problem(checked, ".")) != problem_digest(problem));
}

TEST_CASE("problem.json: nothing but a number that the kernel says of itself is left unchecked") {
  const std::string steps = R"({"name": "steps", "type": "i64", "size": 1, "role": "out", "check": false})";
  const auto read_with = [&](const std::string& argument, const std::string& first = {}) {
    std::string text = support::metric_problem_text;
    text.replace(text.find(steps), steps.size(), argument);
    return parse_problem(text.insert(text.find('{') + 1, first), ".");
  };
  CHECK_NOTHROW((void)read_with(steps));
  for (
      const auto& entry :
      {std::pair{R"({"name": "steps", "type": "i64", "size": 1, "role": "out", "check": 0})",
                 "is not a bool"},
       {R"({"name": "steps", "type": "i64", "size": 2, "role": "out", "check": false})", "one number"},
       {R"({"name": "steps", "type": "i64", "size": "n", "role": "out", "check": false})", "one number"},
       {R"({"name": "steps", "type": "bool", "size": 1, "role": "out", "check": false})", "one number"},
       {R"({"name": "steps", "type": "c64", "size": 1, "role": "out", "check": false})", "one number"},
       {R"({"name": "steps", "type": "i64", "size": 1, "check": false})", "one number"},
       {R"({"name": "steps", "type": "i64", "value": 1, "check": false})", "means nothing for a scalar"},
       {R"({"name": "time", "type": "i64", "size": 1, "role": "out", "check": false})", "the time of a call"},
       {R"({"name": "steps", "type": "i64", "size": 1, "role": "out", "check": false, "tolerance": {"absolute": 1}})",
        "not checked"}}) {
    const char* text = entry.first;  // no structured binding: clang 14 captures none
    CAPTURE(text);
    CHECK_THROWS_WITH_AS((void)read_with(text), doctest::Contains(entry.second), ConfigError);
  }
  CHECK_THROWS_WITH_AS((void)read_with(steps, "\"bit_exact\": true, "),
                       doctest::Contains("the bits of an output that is not checked"), ConfigError);
  std::string only = small_problem;
  only.replace(only.find("\"n\", \"role\": \"out\""), 18, "1, \"role\": \"out\", \"check\": false");
  CHECK_THROWS_WITH_AS((void)parse_problem(only, "."), doctest::Contains("no output that is checked"),
                       ConfigError);
}
