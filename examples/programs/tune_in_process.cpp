// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `kernelsearch tune` from a program of one's own: tune_in_process PROBLEM STORE OUT [BUDGET]
#include <cstdio>

#include "kernelsearch/run/run.hpp"

using namespace kernelsearch;

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s PROBLEM STORE OUT [BUDGET]\n", argv[0]);
    return 2;
  }
  RunOptions options;
  options.budget = argc > 4 ? argv[4] : "5m";
  options.store = argv[2];
  options.out = argv[3];
  Run run = Run::start(argv[1], options);
  run.to_end();
  const RunResult result = run.finish();
  if (!result.best) return 1;
  std::printf("run %lld of %s: %s, best %.3g us\n", static_cast<long long>(number(result.run)),
              run.problem().name.c_str(), result.reason.c_str(), 1e6 * result.best->outcome.objective);
  for (const auto& [what, path] : result.files) std::printf("%s %s\n", what.c_str(), path.c_str());
  return 0;
}
