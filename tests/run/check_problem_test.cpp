// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/check_problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/run/run.hpp"
#include "support/check_has.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

/// y = 3 x + 1 by a kernel of `body`, whose tunables are the compiler's and what `kernel` makes of them.
Problem problem_with(const std::string& body, const std::string& tunables) {
  return parse_problem(
      R"({"schema": 1, "name": "scale", "function": "scale", "arguments": [{"name": "n", "type": "i32"},
      {"name": "x", "type": "f32", "size": "n"}, {"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "kernel": {"device": {"text": ["extern \"C\" void scale(int n, const float* x, float* y) {", ")" +
          body + R"(", "}"]}},
    "shapes": [{"name": "odd", "n": 37, "weight": 0}, {"name": "large", "n": 20000}],
    "reference": {"source": {"text": "void r(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1; }"},
      "function": "r"}, "tunables": {)" +
          tunables + "}}",
      ".");
}

struct Checked {
  ProblemCheck check;
  std::string stages, text;
};

Checked checked(const Problem& problem, ProblemCheckOptions options = {}) {
  static const TemporaryFolder cache;
  options.host.cache_directory = cache.path();
  options.host.sampling.budget_seconds = 0.03;
  options.effects.seconds = 20;
  Checked result;
  result.check = check_problem(problem, options,
                               [&](std::string_view stage) { result.stages += std::string(stage) + "\n"; });
  constexpr const char* severities[] = {"note: ", "warning: ", "error: "};
  for (const LintFinding& finding : result.check.findings)
    result.text += severities[static_cast<int>(finding.severity)] + finding.what + "\n";
  for (const std::string& why : result.check.left_out) result.text += "left out: " + why + "\n";
  return result;
}

constexpr const char* good = "for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;";

}  // namespace

TEST_CASE("check_problem: tune says of OpenMP without `threads` what check says") {
  Problem problem = problem_with(
      "\\n#pragma omp parallel for\\n for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;", R"("SAME": [1, 2])");
  problem.build.flags = {"-O2", "-fopenmp"};
  struct Said : RunObserver {
    void on_message(std::string_view text) override { all += std::string(text) + "\n"; }
    std::string all;
  } said;
  const TemporaryFolder folder;
  RunStore store(folder.path() / "runs.db");
  RunParts parts;
  parts.store = &store;
  parts.observer = &said;
  RunOptions options{.policy = "exhaustive", .budget = "1"};
  (void)Run::start(problem, options, std::move(parts));
  const std::string hint = "the kernel is built with OpenMP and runs in one thread";
  check_has(said.all, hint + ": set \"threads\" in the problem to the number that it may use");
  CHECK(said.all.find("would not pass") == std::string::npos);
  ProblemCheckOptions quick;
  quick.quick = true;
  check_has(checked(problem, quick).text, "note: " + hint);
}

TEST_CASE("check_problem: a tunable that is used nowhere, and one whose use changes nothing") {
  const Problem problem =
      problem_with(std::string("static_assert(SAME > 0); ") + good, R"("SAME": [1, 2], "UNUSED": [1, 2])");
  ProblemCheckOptions options;
  options.effects.margin = 1e6;  // whatever the machine is doing
  const Checked all = checked(problem, options);
  check_has(all.text, "warning: tunable UNUSED is used nowhere: the preprocessed kernel is the same");
  check_has(all.text,
            "note: tunable SAME changes nothing measured: its default 1 against its 1 other value gives ");
  CHECK(all.text.find("UNUSED changes nothing") == std::string::npos);  // said once
  check_has(all.stages, "measuring what tunables change");
  CHECK(all.check.shapes == std::vector<std::string>{"odd", "large"});
  CHECK(linted_shapes(problem, 1).front()->name == "odd");

  options.quick = true;
  const Checked quick = checked(problem, options);
  check_has(quick.text, "warning: tunable UNUSED");
  CHECK(quick.text.find("SAME") == std::string::npos);
  CHECK(quick.stages == "running reference and default\ntrying answers without any work\n");
  CHECK(quick.check.left_out.empty());

  options.run = false;
  const Checked unseen = checked(problem, options);
  check_has(unseen.text, "warning: tunable UNUSED is used nowhere: the kernel does not name it");
  CHECK(unseen.stages.empty());
  CHECK(unseen.check.shapes.empty());
}

TEST_CASE("check_problem: an access past an array is an error, and then nothing is measured") {
  const Checked past = checked(
      problem_with("for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1 + 0 * x[i + ADD];", R"("ADD": [1, 2])"));
  if (past.text.find("left out: accesses past arrays: every shape") != std::string::npos) {
    MESSAGE("skipped: ", past.text);
    return;
  }
  check_has(past.text, "error: the default reads 4 bytes past the end of x, at element 37 of 37 (shape odd)");
  check_has(past.text, "left out: what tunables change: there are errors");
  CHECK(past.stages.find("measuring") == std::string::npos);
}

TEST_CASE("check_problem: of a device problem without a device it says what was left out") {
  Problem problem = parse_problem(
      R"({"schema": 1, "name": "scale", "backend": "cuda", "function": "scale",
    "kernel": {"device": {"text": "extern \"C\" __global__ void scale(int n, float* y) { if (threadIdx.x == 0) y[0] = n + A; }"}},
    "arguments": [{"name": "n", "type": "i32"}, {"name": "y", "type": "f32", "size": 1, "role": "out"}],
    "shapes": [{"n": 5}], "tunables": {"A": [0, 1], "B": [1, 2], "C": [32, 64]},
    "launch": {"grid": [1], "block": ["C"]}})",
      ".");
  ProblemCheckOptions options;
  options.gpu.devices = {4096};
  const Checked result = checked(problem, options);
  REQUIRE(result.check.gpu);
  CHECK(result.check.gpu->depth != GpuCheck::Depth::judged);
  check_has(result.text, "warning: tunable B is used nowhere");
  CHECK(result.text.find("tunable A ") == std::string::npos);
  CHECK(result.text.find("tunable C ") == std::string::npos);
  check_has(result.text, "left out: Compute Sanitizer and what tunables change: there is no device");
}
