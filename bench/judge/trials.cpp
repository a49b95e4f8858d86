// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trials a second of a problem's random configurations, one after another as a search judges them, finalists
// not included: judge_trials PROBLEM [COUNT [PASSES [WORKER]]]. The first pass compiles. Uses nothing that
// the tree did not have on 22 November 2026 (bdd1d8b), so that it builds with both: docs/benchmarks/judge.md.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/problem/read_problem.hpp"

int main(int argc, char** argv) try {
  using namespace kernelsearch;
  const int count = argc > 2 ? std::atoi(argv[2]) : 40, passes = argc > 3 ? std::atoi(argv[3]) : 3;
  if (argc < 2 || argc > 5 || count < 1 || passes < 1) {
    std::fputs("usage: judge_trials PROBLEM [COUNT [PASSES [WORKER]]]\n", stderr);
    return 2;
  }
  const Problem problem = read_problem(argv[1]);
  HostOptions options;
  if (argc > 4) options.worker = argv[4];
  HostEvaluator evaluator(problem, options);
  const auto kernel = std::make_shared<const Kernel>(problem.kernel);
  std::puts("pass   ok  trials/s  seconds  build  check  measure  samples a trial");
  for (int pass = 0; pass < passes; ++pass) {
    Rng rng(1);
    EvaluationContext context;
    double build = 0, check = 0, measure = 0, samples = 0;
    int ok = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
      const Evaluation trial = evaluator.evaluate({kernel, kernel->space.sample(rng)}, context);
      build += trial.phases.build;
      check += trial.phases.check;
      measure += trial.phases.measure;
      if (trial.verdict != Verdict::ok) continue;
      ++ok;
      for (const ShapeMeasurement& shape : trial.measurement.shapes)
        samples += static_cast<double>(shape.samples.size());
      const double seconds = trial.measurement.seconds;
      if (!context.incumbent || seconds < *context.incumbent) context.incumbent = seconds;
    }
    const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("%4d %4d %9.1f %8.2f %6.2f %6.2f %8.2f %16.0f\n", pass, ok, count / all, all, build, check,
                measure, samples / count);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "judge_trials: %s\n", error.what());
  return 1;
}
