// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hostile/attacks.hpp"
#include "judge_bench.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/evaluator/sampling.hpp"
#include "kernelsearch/problem/read_problem.hpp"

namespace judge_bench {
namespace {

using namespace kernelsearch;

/// Candidates of one problem, always the same ones.
struct Trials {
  std::string name;
  Problem problem;
  std::vector<Candidate> candidates;
};

Trials of_matmul(std::size_t count) {
  Trials trials{"examples/host/matmul",
                read_problem(std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "examples" / "host" / "matmul"),
                {}};
  const auto kernel = std::make_shared<const Kernel>(trials.problem.kernel);
  Rng rng(1);
  while (trials.candidates.size() < count) {
    const Candidate candidate{kernel, kernel->space.sample(rng)};
    trials.candidates.push_back(candidate);
  }
  return trials;
}

/// A chain of 256 steps that wait for each other, 2 us on a processor of 3 to 4 GHz; candidates differ in a
/// comment, so that each is compiled.
Trials of_short_calls(std::size_t count) {
  Trials trials{"calls of 2 us", hostile::problem("chain_short"), {}};
  for (Shape& shape : trials.problem.shapes)
    for (NamedValue& variable : shape.variables)
      if (shape.weight > 0) variable.second = Value{std::int64_t{256}};
  const std::string code = hostile::honest_twin(trials.problem);
  for (std::size_t i = 0; i < count; ++i)
    trials.candidates.push_back(hostile::with_code(trials.problem, code + "// " + std::to_string(i) + "\n"));
  return trials;
}

struct Pass {
  double seconds = 0;
  std::size_t ok = 0;
  std::vector<double> call_seconds;  ///< of those that are ok
};

/// Judges them one after another as a search does: pairs with the reference for what is the best so far.
Pass judge_all(HostEvaluator& evaluator, const Trials& trials) {
  Pass pass;
  EvaluationContext context;
  const auto begin = std::chrono::steady_clock::now();
  for (const Candidate& candidate : trials.candidates) {
    const Evaluation evaluation = evaluator.evaluate(candidate, context);
    if (evaluation.verdict != Verdict::ok) continue;
    ++pass.ok;
    const double seconds = evaluation.measurement.seconds;
    pass.call_seconds.push_back(seconds);
    context.incumbent = std::min(context.incumbent.value_or(seconds), seconds);
  }
  pass.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return pass;
}

}  // namespace

int count_trials(const Arguments& arguments) {
  const auto count = static_cast<std::size_t>(std::max(arguments.number("trials", 25), 1));
  const int repeat = std::max(arguments.number("repeat", 3), 1), load = arguments.number("load", 0);
  print_machine(load);
  const BusyLoops loops(load);
  fmt::print("{} trials each; everything compiled: the median of {} passes\n\n", count, repeat);
  fmt::print(
      "| kernel | ok | median time of a call | trials a second, compiled first | everything compiled |\n");
  fmt::print("|---|---|---|---|---|\n");
  bool good = true;
  for (const auto& make : {&of_matmul, &of_short_calls}) {
    const Trials trials = make(count);
    const Scratch scratch;
    HostOptions options;
    options.cache_directory = scratch.path();
    options.core = measured_core_number();
    HostEvaluator evaluator(trials.problem, options);
    const Pass first = judge_all(evaluator, trials);
    std::vector<double> rates;
    for (int i = 0; i < repeat; ++i)
      rates.push_back(static_cast<double>(count) / judge_all(evaluator, trials).seconds);
    fmt::print("| {} | {} of {} | {:.3g} us | {:.2f} | {:.2f} |\n", trials.name, first.ok, count,
               1e6 * median(first.call_seconds), static_cast<double>(count) / first.seconds, median(rates));
    good = good && first.ok > 0;
  }
  if (!good) fmt::print("\nnothing that is ok: no trials a second\n");
  return good ? 0 : 1;
}

}  // namespace judge_bench
