// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An evaluator from a lambda that may fail: what is wrong is a verdict with a reason, never an exception, and
// the search goes on around it.
#include <cstdio>
#include <string>

#include "kernelsearch/kernelsearch.hpp"

using namespace kernelsearch;

int main() {
  const Space space = SpaceBuilder()
                          .add(Tunable::power_of_two("threads", 32, 1024))
                          .add(Tunable::integer("per_thread", 1, 8))
                          .build();
  // A cost model of a device with 48 KiB of fast memory: more work per thread is better until it does not
  // fit.
  const auto judge = [&](const Candidate& candidate) {
    const double threads = to_number(space.value(candidate.config, 0));
    const double per_thread = to_number(space.value(candidate.config, 1));
    const double bytes = threads * per_thread * 16;
    if (bytes > 48 * 1024)
      return Evaluation::failed(Verdict::launch_failed,
                                "needs " + std::to_string(static_cast<int>(bytes)) + " bytes");
    Evaluation evaluation = Evaluation::succeeded(1.0 / bytes + 1e-6 * threads);
    evaluation.features.set("bytes", bytes);
    return evaluation;
  };
  Optimizer search{Exhaustive(space), TemplateGenerator(Kernel{{}, space}), FunctionEvaluator(judge)};
  const RunSummary summary = search.run();
  std::printf("%llu trials, %llu failed to launch\n", static_cast<unsigned long long>(summary.trials),
              static_cast<unsigned long long>(summary.verdicts[static_cast<int>(Verdict::launch_failed)]));
  const auto* best = search.best();
  if (best == nullptr) return 1;  // no trial was right
  std::printf("best: %s, %.0f bytes\n", space.key(best->candidate->config).c_str(),
              best->outcome.evaluation.features.find("bytes").value_or(0));
}
