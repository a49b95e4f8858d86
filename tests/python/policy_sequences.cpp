// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints what each policy proposes on the space of tests/python/test_sequences.py: a line for each, its name
// and the keys.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "kernelsearch/kernelsearch.hpp"

using namespace kernelsearch;

int main(int argc, char** argv) {
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const Space space = SpaceBuilder()
                          .add(Tunable::power_of_two("block", 1, 256).with_default(Value{std::int64_t{32}}))
                          .add(Tunable::integer("tile", 1, 32))
                          .add(Tunable::boolean("vector"))
                          .add(Tunable::permutation("order", 3))
                          .require("block * tile <= 2048")
                          .build();
  for (const ConfigPolicyEntry& entry : config_policies()) {
    Optimizer search{entry.make({space, seed, 60}), TemplateGenerator(Kernel{{}, space})};
    std::string line(entry.name);
    while (search.trials().size() < 60) {
      const auto jobs = search.ask(3);
      if (jobs.empty()) break;
      for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) {  // the last comes home first
        const Config& config = job->candidate.config;
        const double block = to_number(space.value(config, 0)), tile = to_number(space.value(config, 1));
        const double vector = to_number(space.value(config, 2));
        const bool fails = block * tile == 1024;
        search.tell(job->id, fails ? Evaluation::failed(Verdict::build_failed, "no registers")
                                   : Evaluation::succeeded(1 + block / 256 + tile / 64 - vector / 8));
      }
      for (const auto& job : jobs) line += ' ' + space.key(job.candidate.config);
    }
    for (char& c : line)
      if (c == ' ' && &c != line.data() && (&c)[-1] == ',') c = '_';  // inside an order
    std::printf("%s\n", line.c_str());
  }
}
