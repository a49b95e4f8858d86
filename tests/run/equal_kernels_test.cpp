// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hostile/equal_kernels.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/run/run.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

// What no noise of a machine does to the median of several pairings, only two ways of timing one thing.
constexpr double too_far = 0.10;

const std::string scaling =
    "#include <cstdint>\\nextern \\\"C\\\" void scale(std::int32_t n, const float* x, const float* penalty, "
    "float* y) {"
    " for (int c = 0; c < n; ++c) { float v = x[c]; y[c] = v > 0 ? v / penalty[c] : v * penalty[c]; } }\\n";
const std::string scaling_arguments =
    R"("arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
        {"name": "penalty", "type": "f32", "size": "n", "low": 0.5, "high": 2},
        {"name": "y", "type": "f32", "size": "n", "role": "out"}], "tunables": {"B": [1]})";
const std::string scaling_reference =
    R"("reference": {"function": "scale_reference", "flags": ["-O3", "-march=native"], "source": {"text":
        "void scale_reference(std::int32_t n, const real* x, const real* penalty, real* y) { for (int c = 0; c < n; ++c) { real v = x[c]; y[c] = v > 0 ? v / penalty[c] : v * penalty[c]; } }"}})";
const std::string native_build = R"("build": {"compiler": "g++", "flags": ["-O3", "-march=native"]})";

/// Kernels and their references with one text and one set of flags, whose speedup was once far from 1.
std::vector<Problem> kernels_beside_themselves() {
  const std::string scale = R"({"schema": 1, "function": "scale", "kernel": {"device": {"text": ")" +
                            scaling + "\"}}, " + scaling_arguments + ", ";
  std::vector<Problem> all;
  all.push_back(parse_problem(scale + R"("name": "small", "shapes": [{"name": "s", "n": 51}]})", "."));
  all.push_back(parse_problem(
      scale + native_build + R"(, "name": "default", "shapes": [{"name": "s", "n": 200}]})", "."));
  all.push_back(
      parse_problem(scale + native_build + ", " + scaling_reference +
                        R"(, "name": "exact", "bit_exact": true, "shapes": [{"name": "s", "n": 200}]})",
                    "."));
  all.push_back(parse_problem(
      R"({"schema": 1, "name": "triad", "function": "triad", "kernel": {"device": {"text":
        "extern \"C\" void triad(int n, const float* x, const float* z, float* y) { for (int i = 0; i < n; ++i) y[i] = x[i] + 3.0f * z[i]; }"}},
        "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
          {"name": "z", "type": "f32", "size": "n", "low": 0.5, "high": 2}, {"name": "y", "type": "f32", "size": "n", "role": "out"}],
        "shapes": [{"name": "s", "n": 200000}], "tunables": {"B": [1]}, )" +
          native_build +
          R"(, "reference": {"function": "triad_reference", "flags": ["-O3", "-march=native"], "source": {"text":
        "void triad_reference(int n, const real* x, const real* z, real* y) { for (int i = 0; i < n; ++i) y[i] = x[i] + 3.0f * z[i]; }"}}})",
      "."));
  return all;
}

std::string ratios_in_words(const std::vector<equal::Ratio>& ratios) {
  std::string text;
  for (const equal::Ratio& one : ratios) text += " " + std::to_string(one.ratio);
  return text;
}

}  // namespace

TEST_CASE("equal kernels: the reference beside itself is as fast as it is") {
  const TemporaryFolder cache;
  for (const Problem& problem : kernels_beside_themselves()) {
    CAPTURE(problem.name);
    HostOptions options;
    options.cache_directory = cache.path();
    options.pairs.when = Pairing::always;
    HostEvaluator evaluator(problem, options);
    std::vector<equal::Ratio> ratios;
    for (int i = 0; i < 5; ++i) {
      const Evaluation evaluation = evaluator.evaluate(problem.default_candidate(), {});
      REQUIRE_MESSAGE(evaluation.verdict == Verdict::ok, evaluation.reason);
      const auto ratio = equal::ratio_of(evaluation.measurement.speedup);
      REQUIRE(ratio);
      ratios.push_back(*ratio);
    }
    CHECK_MESSAGE(std::abs(equal::middle_of(ratios) - 1) < too_far, ratios_in_words(ratios));
  }
}

TEST_CASE("equal kernels: what a run says of finalists beside the default and each other is 1") {
  const TemporaryFolder folder;
  for (const equal::Baseline baseline : {equal::Baseline::own_default, equal::Baseline::reference}) {
    const Problem problem = equal::problem_of({"equal", 2048, 0, baseline});
    RunStore store(folder.path() / "runs.db");
    RunOptions options{
        .policy = "exhaustive", .budget = "4", .learn = false, .memory = false, .reuse = false};
    options.bounds = false;
    RunParts parts;
    parts.store = &store;
    Run run = Run::start(problem, options, std::move(parts));
    run.to_end();
    const RunResult result = run.finish();
    REQUIRE(result.finalists);
    std::vector<equal::Ratio> ratios;
    for (const FinalistPair& pair : result.finalists->pairs)
      if (const auto ratio = equal::ratio_of(pair.speedup)) ratios.push_back(*ratio);
    REQUIRE(!ratios.empty());
    CHECK_MESSAGE(std::abs(equal::middle_of(ratios) - 1) < too_far, ratios_in_words(ratios));
    // What is printed above all of them.
    REQUIRE(result.best);
    const auto best = equal::ratio_of(result.best->outcome.evaluation.measurement.speedup);
    if (best) CHECK_MESSAGE(std::abs(best->ratio - 1) < 2 * too_far, best->ratio);
  }
}
