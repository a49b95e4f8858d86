// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/judge/translation_unit.hpp"

#include <doctest/doctest.h>

#include "evaluator/host/support.hpp"
#include "judge/compile.hpp"
#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;

namespace {

Problem sample() {
  return parse_problem(
      support::scale_problem("extern \"C\" void scale(int n, const float* x, float* y);\n",
                             R"(, "tunables": {"A": [4, 8], "B": [false, true], "C": ["", "-O2"],
      "P": {"permutation": 3}, "F": [0.5, 1.0]})"),
      support::sources);
}

bool source_has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("tunable_definitions: every kind of value") {
  const Problem problem = sample();
  const std::string text = tunable_definitions(problem.kernel, Config{{1, 1, 0, 1, 0}});
  CHECK(source_has(text, "#define A 8\n"));
  CHECK(source_has(text, "#define B 1\n"));
  CHECK(source_has(text, "#define C\n"));
  CHECK(source_has(text, "#define F 0.5\n"));
  CHECK(source_has(text, "#define P {0, 2, 1}\n"));
  CHECK(source_has(text, "#define P_0 0\n"));
  CHECK(source_has(text, "#define P_2 1\n"));
  CHECK(source_has(tunable_definitions(problem.kernel, Config{{0, 0, 0, 0, 0}}), "#define B 0\n"));
}

TEST_CASE("candidate_source: regions in order, each with its own lines, and a checked call") {
  Problem problem = sample();
  problem.kernel.regions.macros = "#define ONE 1";
  problem.kernel.regions.host = "// host";
  const std::string text = candidate_source(problem, support::default_candidate(problem));
  const auto tunables = text.find("#define A 4"), macros = text.find("#line 1 \"macros\"\n#define ONE 1\n"),
             device = text.find("#line 1 \"device\"\n"), host = text.find("#line 1 \"host\"\n// host\n"),
             entry = text.find("#line 1 \"kernelsearch_entry\"");
  CHECK(tunables < macros);
  CHECK(macros < device);
  CHECK(device < host);
  CHECK(host < entry);
  CHECK(entry != std::string::npos);
  CHECK(source_has(
      text,
      "scale(*static_cast<const std::int32_t*>(arguments[0]), static_cast<const float*>(arguments[1]), "
      "static_cast<float*>(arguments[2]))"));
}

TEST_CASE("reference_source: `real` is what is asked for, in the source and in the call") {
  const Problem problem = sample();
  CHECK(source_has(reference_source(problem, Real::f64), "using real = double;\n"));
  CHECK(source_has(reference_source(problem, Real::f64), "static_cast<const double*>(arguments[1])"));
  CHECK(source_has(reference_source(problem, Real::extended), "using real = long double;\n"));
  CHECK(source_has(reference_source(problem, Real::kernel), "using real = float;\n"));
  CHECK(
      source_has(reference_source(problem, Real::kernel), "*static_cast<const std::int32_t*>(arguments[0])"));
  Problem wide = sample();
  wide.arguments[1].type = ElementType::f64;
  CHECK(uses_f64(wide));
  CHECK(!uses_f64(problem));
  CHECK(source_has(reference_source(wide, Real::kernel), "using real = double;\n"));
}

TEST_CASE("expand_tunables and compile_command: names are replaced, empty flags dropped, blanks split") {
  Problem problem = sample();
  const Config config{{1, 0, 1, 0, 0}};
  CHECK(expand_tunables("-x${A}y${A}", problem.kernel, config) == "-x8y8");
  CHECK_THROWS_AS((void)expand_tunables("${UNKNOWN}", problem.kernel, config), ConfigError);
  CHECK_THROWS_AS((void)expand_tunables("${A", problem.kernel, config), ConfigError);
  problem.build.flags = {"-a -b", "${C}", "-O${A}"};
  const auto command = [&](std::uint32_t c) {
    return compile_command(problem,
                           {std::make_shared<const Kernel>(problem.kernel), Config{{1, 0, c, 0, 0}}});
  };
  CHECK(command(0) == std::vector<std::string>{"g++", "-a", "-b", "-O8"});
  problem.build.compiler = "g++ -O3";
  CHECK_THROWS_AS((void)command(0), ConfigError);
}

TEST_CASE("first_errors: the first error with what belongs to it, the number of the others") {
  const std::string output =
      "device:1:1: warning: unused\n   1 | x\ndevice: In function 'f':\ndevice:2:5: error: no\n   2 | y\n    "
      " | ^\n"
      "device:3:5: error: neither\n";
  const std::string text = detail::first_errors(output);
  CHECK(text.find("device: In function 'f':\ndevice:2:5: error: no") == 0);
  CHECK(source_has(text, "(2 errors)"));
  CHECK(detail::first_errors("").empty());
  CHECK(detail::first_errors("only this\n") == "only this");
  CHECK(detail::first_errors(std::string(100000, 'x') + "\n").size() <= 2000);
}
