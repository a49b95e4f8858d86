// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an ask and a tell cost in C++, for bench/python_bench.py: python_ask_tell POLICY TRIALS prints seconds
// of each.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "kernelsearch/kernelsearch.hpp"

using namespace kernelsearch;

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: python_ask_tell POLICY TRIALS\n");
    return 2;
  }
  const Space space = SpaceBuilder()
                          .add(Tunable::power_of_two("block", 1, 256))
                          .add(Tunable::integer("tile", 1, 32))
                          .add(Tunable::integer("unroll", 1, 8))
                          .add(Tunable::boolean("vector"))
                          .add(Tunable::integer("stages", 1, 20))
                          .require("block * tile <= 2048")
                          .build();
  AnyPolicy<Config> policy = make_config_policy(argv[1], {space, 1});
  const std::uint64_t trials = std::strtoull(argv[2], nullptr, 10);
  using Clock = std::chrono::steady_clock;
  double asking = 0, telling = 0;
  for (std::uint64_t i = 0; i < trials; ++i) {
    const auto begin = Clock::now();
    const std::vector<Config> asked = policy.ask(1);
    const auto between = Clock::now();
    if (asked.empty()) break;
    const double seconds =
        1 + to_number(space.value(asked[0], 0)) / 256 + to_number(space.value(asked[0], 1)) / 64;
    const auto told = Clock::now();
    Observation<Config> seen{asked[0], {}};
    seen.outcome.id = TrialId{i};
    seen.outcome.origin = Origin{ProposalId{i}, 0, 1};
    seen.outcome.objective = seconds;
    seen.outcome.evaluation = Evaluation::succeeded(seconds);
    policy.tell(std::span(&seen, 1));
    asking += std::chrono::duration<double>(between - begin).count();
    telling += std::chrono::duration<double>(Clock::now() - told).count();
  }
  std::printf("%.9g %.9g\n", asking / static_cast<double>(trials), telling / static_cast<double>(trials));
}
