// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/time_floor.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/judge/machine.hpp"
#include "process/pinned_thread.hpp"
#include "support.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail;

TEST_CASE("impossible: faster than the peaks allow is named with its figures, near to them is not") {
  DevicePeaks peaks;
  peaks.f32 = 100e9;
  peaks.f64 = 50e9;
  peaks.levels = {{"L1", 32768, 200e9}, {"memory", 1e12, 20e9}};
  CHECK(!impossible({.operations = 1e6, .bytes = 0}, 10e-6, peaks));  // at the peak
  CHECK(!impossible({.operations = 1e6, .bytes = 0}, 7e-6, peaks));   // peaks are measured, too
  const auto fast = impossible({.operations = 1e6, .bytes = 0}, 5e-6, peaks);
  REQUIRE(fast);
  CHECK(*fast == "its calls take 5 us, which would be 200 GFLOP/s, and this machine does 100 at most");
  CHECK(!impossible({.operations = 0, .bytes = 2e6}, 10e-6, peaks));
  const auto moved = impossible({.operations = 0, .bytes = 2e6}, 5e-6, peaks);
  REQUIRE(moved);
  CHECK(*moved == "its calls take 5 us, which would be 400 GB/s, and this machine moves 200 at most");
  CHECK(!impossible({.operations = 1e9, .bytes = 1e9}, 1e-9, DevicePeaks{}));  // nothing is known
}

TEST_CASE("least_work: as declared, else what must be written") {
  Problem problem = parse_problem(
      support::scale_problem("extern \"C\" void scale(int, const float*, float*) {}"), support::sources);
  const ShapePlan plan = plan_shape(problem, problem.default_candidate(), 1);
  CHECK(least_work(problem, plan).bytes == 4 * 4096);  // the output; an input may be read in part
  CHECK(least_work(problem, plan).operations == 0);
  problem.bytes = Expression::parse("8 * n");
  problem.operations = Expression::parse("2 * n");
  CHECK(least_work(problem, plan).bytes == 8 * 4096);
  CHECK(least_work(problem, plan).operations == 2 * 4096);
}

TEST_CASE("HostEvaluator: less than what the peaks allow is no time") {
  // An output of bytes that the kernel is said to move many times over.
  std::string text = support::scale_problem(
      "extern \"C\" void scale(int n, const float* x, float* y) {\n"
      "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;\n}\n");
  const auto evaluated = [](const std::string& problem) {
    HostEvaluator evaluator(parse_problem(problem, support::sources), support::quick());
    return evaluator.evaluate(support::default_candidate(evaluator.problem()), {});
  };
  CHECK(evaluated(text).verdict == Verdict::ok);
  text.insert(text.rfind('}'), R"(, "bytes": "n * 1000000")");
  const Evaluation e = evaluated(text);
  CHECK(e.verdict == Verdict::cheated);
  CHECK_MESSAGE(e.reason.find("GB/s, and this machine moves") != std::string::npos, e.reason);
}

TEST_CASE("TimeFloor: peaks are measured though the thread that measures is kept off the core") {
  const std::vector<int> cores = host_machine().cores;
  if (cores.size() < 2) {
    MESSAGE("skipped: this machine has one core");
    return;
  }
  Problem problem = parse_problem(
      support::scale_problem("extern \"C\" void scale(int, const float*, float*) {}"), support::sources);
  problem.bytes = Expression::parse("n * 1000000");
  TimeFloor floor(problem, {.core = cores.back(), .cache_directory = support::scratch() / "cache"}, cores);
  const PinnedThread elsewhere(cores.front());
  CHECK(floor.below(plan_shape(problem, problem.default_candidate(), 1), 1e-6));
}
