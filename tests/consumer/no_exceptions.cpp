// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compiled with -fno-exceptions -fno-rtti and linked with nothing: a search runs, and misuse reaches the
// handler that this program installs.
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "kernelsearch/kernelsearch.hpp"

#if KERNELSEARCH_EXCEPTIONS || !KERNELSEARCH_HEADER_ONLY
#  error "compile this with -fno-exceptions and KERNELSEARCH_HEADER_ONLY=1"
#endif

using namespace kernelsearch;

namespace {

constexpr int misuse_code = 42;

struct Climb {
  using Proposal = int;
  Rng rng{1};
  int best = 500;
  double best_objective = 1e9;
  int left = 400;
  std::vector<int> ask(std::size_t n) {
    std::vector<int> proposals;
    for (; proposals.size() < n && left > 0; --left)
      proposals.push_back(best + static_cast<int>(rng.below(21)) - 10);
    return proposals;
  }
  void tell(std::span<const Observation<int>> batch) {
    for (const auto& [proposal, outcome] : batch)
      if (outcome.objective < best_objective) {
        best_objective = outcome.objective;
        best = proposal;
      }
  }
};

struct Identity {
  using Candidate = int;
  Generation<int> generate(int x, const History<int>&) { return Generation<int>::one(x); }
};

struct Valley {
  Evaluation evaluate(int x, const EvaluationContext&) const {
    if (x % 7 == 0) return Evaluation::failed(Verdict::build_failed, "a multiple of 7");
    return Evaluation::succeeded(1.0 + std::abs(x - 321));
  }
};

int search(std::size_t in_flight) {
  Optimizer loop{Climb{}, Identity{}, Valley{}, {.in_flight = in_flight}};
  const RunSummary summary = loop.run(MaxTrials{400} || NoGain{200});
  std::printf("%d in flight: %s, best %d\n", static_cast<int>(in_flight), summary.reason.c_str(),
              *loop.best()->candidate);
  return *loop.best()->candidate;
}

/// Runs `misuse` in a process of its own; true when the replaced handler got a message that holds `text`.
template <class Misuse>
bool reaches_handler(const char* text, Misuse misuse) {
  static const char* expected;
  expected = text;
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    set_failure_handler([](std::string_view message) {
      std::_Exit(message.find(expected) != std::string_view::npos ? misuse_code : 1);
    });
    misuse();
    std::_Exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == misuse_code;
}

bool check(bool right, const char* what) {
  if (!right) std::fprintf(stderr, "failed: %s\n", what);
  return right;
}

}  // namespace

int main() {
  bool right = check(search(1) == 321, "a search one at a time");
  right &= check(search(4) == 321, "a search with four in flight");
  right &= check(reaches_handler("not outstanding: trial 7; tell each id",
                                 [] {
                                   Optimizer loop{Climb{}, Identity{}};
                                   loop.tell(TrialId{7}, {});
                                 }),
                 "telling an unknown id reaches the handler");
  right &= check(reaches_handler("a count of 0",
                                 [] {
                                   Optimizer loop{Climb{}, Identity{}, Valley{}, {.in_flight = 0}};
                                 }),
                 "wrong options reach the handler");
  return right ? 0 : 1;
}
