// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/unused_tunables.hpp"

#include <doctest/doctest.h>

#include "problem/problem_texts.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;

namespace {

Problem with_kernel(const std::string& kernel, const std::string& tunables, const std::string& more = {}) {
  return parsed(R"({"schema": 1, "name": "fill", "function": "fill", "kernel": {"device": {"text": ")" +
                kernel +
                R"("}}, "arguments": [{"name": "n", "type": "i32"},
    {"name": "y", "type": "f32", "size": "n", "role": "out"}], "shapes": [{"n": 1000}], "tunables": {)" +
                tunables + "}" + more + "}");
}

std::string names_of(const Problem& problem, const std::vector<UnusedTunable>& unused) {
  std::string names;
  for (const UnusedTunable& one : unused) names += problem.kernel.space.tunable(one.tunable).name + " ";
  return names;
}

std::string unused_in(const Problem& problem, const Preprocess& preprocess = {},
                      UnusedTunableOptions options = {}) {
  return names_of(problem, find_unused_tunables(problem, preprocess, options));
}

/// Stands for a preprocessor: the value of `name` is in the text where `when` holds.
Preprocess shows(const Problem& problem, const std::string& name,
                 const std::function<bool(const Space&, const Config&)>& when) {
  return [&problem, name, when](const Config& config) -> std::optional<std::string> {
    const Space& space = problem.kernel.space;
    return "fill " + (when(space, config) ? to_string(space.value(config, *space.find(name))) : "");
  };
}

}  // namespace

TEST_CASE("find_unused_tunables: without a preprocessor a name in code is a use, one in a comment is none") {
  const Problem problem = with_kernel(
      R"(// A is not used\n/* nor\n B */ void fill() { int c = C, big = 1'000; const char* d = \"D\"; f(E_1); F; })",
      R"("A": [1, 2], "B": [1, 2], "C": [1, 2], "D": [1, 2], "E": {"permutation": 3}, "F": [1, 2], "G": [7])");
  CHECK(unused_in(problem) == "A B D ");
  const auto found = find_unused_tunables(problem);
  CHECK(found[0].finding.severity == LintFinding::Severity::warning);
  CHECK(found[0].finding.what.find("tunable A is used nowhere: the kernel does not name it") == 0);
  CHECK(found[0].finding.todo.find("2 times as large") != std::string::npos);
}

TEST_CASE("find_unused_tunables: a name that is nearly there is named") {
  const auto found = find_unused_tunables(
      with_kernel("void fill() { int t = TILE_SIZE + UNROLL; }", R"("TILE_SIZ": [1, 2], "UNROLL": [1, 2])"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].finding.todo.find("the kernel has TILE_SIZE: is that meant?") != std::string::npos);
}

TEST_CASE("find_unused_tunables: flags, sizes and launches are uses, constraints and valid are none") {
  const std::string tunables = R"("A": [1, 2], "B": [1, 2])";
  CHECK(unused_in(with_kernel("f", tunables)) == "A B ");
  CHECK(unused_in(with_kernel("f", tunables, R"(, "build": {"flags": ["-DX=${A}"]})")) == "B ");
  CHECK(unused_in(with_kernel("f", tunables, R"(, "constraints": ["A <= B"], "valid": "n % A == 0")")) ==
        "A B ");
  Problem problem = parsed(device_problem);  // one that uses each of its own in its launch
  const std::vector<bool> outside = tunables_outside_kernel(problem);
  for (std::size_t i = 0; i < outside.size(); ++i) {
    CAPTURE(problem.kernel.space.tunable(i).name);
    CHECK(outside[i]);
  }
  problem.launch.clear();
  problem.arguments.clear();
  problem.build.flags.clear();
  CHECK(tunables_outside_kernel(problem) == std::vector<bool>(outside.size(), false));
}

TEST_CASE("find_unused_tunables: what the preprocessor leaves decides, not the names") {
  const Problem problem = with_kernel("void fill() { A; }", R"("A": [1, 2, 3], "B": [1, 2], "C": [4, 8])");
  const auto never = [](const Space&, const Config&) { return false; };
  CHECK(unused_in(problem, shows(problem, "A", never)) == "A B C ");
  CHECK(unused_in(problem, shows(problem, "A", [](auto&&...) { return true; })) == "B C ");
  const auto found = find_unused_tunables(problem, shows(problem, "A", never));
  CHECK(found[0].finding.what.find("the preprocessed kernel is the same for all its 3 values") !=
        std::string::npos);
}

TEST_CASE("find_unused_tunables: a use that another tunable hides by default is found") {
  const Problem problem = with_kernel("f", R"("A": [1, 2, 3], "B": [1, 2], "C": [4, 8])");
  const auto hidden = [](const Space& space, const Config& config) {
    return to_number(space.value(config, *space.find("B"))) == 2;
  };
  CHECK(unused_in(problem, shows(problem, "A", hidden)) == "C ");
  CHECK(unused_in(problem, shows(problem, "A", hidden), {.max_bases = 1}) == "A C ");
}

TEST_CASE("find_unused_tunables: where the default cannot be preprocessed, names decide") {
  const Problem problem = with_kernel("void fill() { A; }", R"("A": [1, 2], "B": [1, 2])");
  CHECK(unused_in(problem, [](const Config&) { return std::optional<std::string>(); }) == "B ");
}

TEST_CASE("find_unused_tunables: values for which there is no text differ from those for which there is") {
  const Problem problem = with_kernel("f", R"("A": [1, 2], "B": [1, 2])");
  CHECK(unused_in(problem, [](const Config& config) {
          return config.indices[0] == 0 ? std::optional<std::string>("f") : std::nullopt;
        }) == "B ");
}

TEST_CASE("find_unused_tunables: no preprocessor is asked where everything is named outside") {
  const Problem problem = with_kernel("f", R"("A": [1, 2])", R"(, "build": {"flags": ["${A}"]})");
  CHECK(unused_in(problem, [](const Config&) -> std::optional<std::string> {
          FAIL("asked");
          return std::nullopt;
        }) == "");
}

TEST_CASE("find_unused_tunables: a schedule of MLIR uses what is written into it") {
  Problem problem = with_kernel("f", R"("rows": [1, 2], "columns": [1, 2], "other": [1, 2, 3])");
  problem.names.device = "schedule.mlir";
  problem.kernel.regions.device =
      "\"builtin.module\"() ({\n"
      "  \"transform.named_sequence\"() <{function_type = (!transform.any_op) -> (), sym_name = "
      "\"__transform_main\"}> ({\n"
      "  ^bb0(%arg0: !transform.any_op):\n"
      "    %0 = \"transform.tune.knob\"() <{name = \"rows\", options = [1, 2]}> : () -> "
      "!transform.param<i64>\n"
      "    %1 = \"transform.tune.knob\"() <{name = \"columns\", options = [1, 2]}> : () -> "
      "!transform.param<i64>\n"
      "    \"transform.yield\"() : () -> ()\n"
      "  }) : () -> ()\n"
      "}) {transform.with_named_sequence} : () -> ()\n";
  const auto found =
      find_unused_tunables(problem, [](const Config&) { return std::optional<std::string>(); });
  CHECK(names_of(problem, found) == "other ");
  REQUIRE(found.size() == 1);
  CHECK(found[0].finding.what.find("the schedule is the same for all its 3 values") != std::string::npos);
}
