// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "problem/problem_texts.hpp"

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
