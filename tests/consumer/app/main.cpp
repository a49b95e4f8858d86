// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A program of someone else, who has nothing but the package: searches a table for its smallest entry.
#include <cmath>
#include <cstdio>

#include "kernelsearch/kernelsearch.hpp"

namespace ks = kernelsearch;

struct Sweep {
  using Proposal = int;
  int next = 0;
  std::vector<int> ask(std::size_t n) {
    std::vector<int> proposals;
    while (proposals.size() < n && next < 100) proposals.push_back(next++);
    return proposals;
  }
  void tell(std::span<const ks::Observation<int>>) {}
};

struct Identity {
  using Candidate = int;
  ks::Generation<int> generate(int x, const ks::History<int>&) { return ks::Generation<int>::one(x); }
};

int main() {
  ks::FunctionEvaluator evaluator{[](int x) { return 1.0 + std::abs(x - 42); }};
  ks::Optimizer search{Sweep{}, Identity{}, evaluator};
  const ks::RunSummary summary = search.run(ks::MaxTrials{80});
  std::printf("kernelsearch %s: best of %d trials is %d\n", KERNELSEARCH_VERSION,
              static_cast<int>(summary.trials), *search.best()->candidate);
  bool refused = false;
  try {
    search.tell(ks::TrialId{7}, {});  // reaches compiled code: the error text
  } catch (const ks::ConfigError&) {
    refused = true;
  }
  return summary.trials == 80 && *search.best()->candidate == 42 && refused ? 0 : 1;
}
