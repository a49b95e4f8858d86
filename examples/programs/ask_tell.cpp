// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The caller owns the loop, the threads and the machine: candidates are asked for, evaluated anywhere, and
// told in any order. No evaluator of the library takes part.
#include <cstdio>
#include <future>
#include <utility>
#include <vector>

#include "kernelsearch/kernelsearch.hpp"

using namespace kernelsearch;

/// Stands for a machine of one's own: a remote build farm, a simulator, a queue of boards.
double somewhere_else(std::vector<Value> values) {
  const double block = to_number(values[0]), stages = to_number(values[1]);
  return 10 / block + 0.01 * block + 0.3 / stages + 0.05 * stages;
}

int main() {
  const Space space =
      SpaceBuilder().add(Tunable::integer("block", 1, 64)).add(Tunable::integer("stages", 1, 8)).build();
  Optimizer search{IteratedLocalSearch(space, {.seed = 5}), TemplateGenerator(Kernel{{}, space})};

  // A seed that was known before; the policy hears of it and never proposes it again.
  const Config known = *space.config_of(std::vector<Value>{std::int64_t{16}, std::int64_t{2}});
  search.submit(known, {search.generator().kernel(), known},
                Evaluation::succeeded(somewhere_else(space.values(known))));

  while (search.trials().size() < 120) {
    auto jobs = search.ask(8);
    if (jobs.empty()) break;
    std::vector<std::pair<TrialId, std::future<double>>> running;
    for (const auto& job : jobs)
      running.emplace_back(
          job.id, std::async(std::launch::async, somewhere_else, space.values(job.candidate.config)));
    for (auto at = running.rbegin(); at != running.rend(); ++at)  // the last comes home first
      search.tell(at->first, Evaluation::succeeded(at->second.get()));
  }
  const auto* best = search.best();
  if (best == nullptr) return 1;  // no trial was right
  std::printf("best: block,stages = %s at %.4f\n", space.key(best->candidate->config).c_str(),
              best->outcome.objective);
}
