// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <string>

#include "kernelsearch/agents/problem_text.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch;

TEST_CASE("problem_text: of an external problem the program, and whose clock it is; nothing of compilers") {
  Problem problem = parse_problem(R"({"schema": 1, "name": "p", "backend": "external", "function": "f",
    "kernel": {"device": {"name": "kernel.py", "text": "pass"}},
    "arguments": [{"name": "y", "type": "f64", "size": "n", "role": "out"}], "shapes": [{"name": "s", "n": 3}],
    "reference": {"source": {"text": "void r(real*) {}"}, "function": "r"},
    "external": {"command": ["python3", "${FILES}/evaluator.py"]}})",
                                  ".");
  const std::string text = problem_text(problem, {});
  check_has(text, "Backend: external.");
  check_has(text, "Built and run by the program: python3 ${FILES}/evaluator.py\n");
  check_has(text, "the kernel's text, kernel.py, and the values of the tunables");
  check_has(text, "as the program that runs them makes them, by the wall's clock");
  CHECK(text.find("Compiled with") == std::string::npos);
  CHECK(text.find("Launch") == std::string::npos);
  CHECK(kernel_language(problem) == "python");
  problem.names.device = "kernel.cu";
  CHECK(kernel_language(problem) == "cuda");
  problem.names.device = "kernel.xyz";
  CHECK(kernel_language(problem).empty());
  problem.external->clock = ExternalClock::claimed;
  check_has(problem_text(problem, {}), "by the program that runs them, whose word the times are");
}
