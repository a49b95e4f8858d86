// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernelsearch/c/kernelsearch.h"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/space/space_builder.hpp"

namespace kernelsearch {
namespace {

double time_of(const std::vector<std::uint32_t>& config) {
  return 1.0 + (config[0] > 2 ? config[0] - 2 : 2 - config[0]) + 0.3 * config[1] +
         (config[2] == 1 ? 0.0 : 0.5);
}

bool fails(const std::vector<std::uint32_t>& config) {
  return (config[0] + config[1]) % 7 == 6;
}

TEST_CASE("through C every policy proposes what it proposes in an Optimizer, for the same seed") {
  const Space space = SpaceBuilder()
                          .add(Tunable::power_of_two("block", 16, 512).with_default(std::int64_t{64}))
                          .add(Tunable::integer("tile", 1, 12))
                          .add(Tunable::boolean("pad"))
                          .require("block * tile <= 2048")
                          .build();
  ks_space* same = nullptr;
  REQUIRE(ks_space_parse(R"({"tunables": {"block": {"powers_of_two": [16, 512]}, "tile": {"range": [1, 13]},
      "pad": [false, true]}, "constraints": ["block * tile <= 2048"], "default": {"block": 64}})",
                         &same) == KS_OK);
  for (const ConfigPolicyEntry& entry : config_policies()) {
    CAPTURE(entry.name);
    ks_policy* policy = nullptr;
    ks_search* search = nullptr;
    REQUIRE(ks_policy_named(std::string(entry.name).c_str(), R"({"budget": 40})", &policy) == KS_OK);
    REQUIRE(ks_search_new(same, policy, 11, &search) == KS_OK);
    Optimizer reference(make_config_policy(entry.name, {.space = space, .seed = 11, .budget = 40}),
                        TemplateGenerator(Kernel{{}, space}));
    for (int round = 0; round < 14; ++round) {
      std::uint64_t jobs[3];
      std::uint32_t configs[9];
      std::size_t given = 0;
      const ks_status status = ks_search_ask(search, 3, jobs, configs, 9, &given);
      const auto expected = reference.ask(3);
      REQUIRE((status == KS_OK ? given : 0) == expected.size());
      if (expected.empty()) break;
      for (std::size_t k = expected.size(); k-- > 0;) {
        const std::vector<std::uint32_t> config(configs + 3 * k, configs + 3 * k + 3);
        REQUIRE(config == expected[k].candidate.config.indices);
        REQUIRE(jobs[k] == number(expected[k].id));
        if (fails(config)) {
          REQUIRE(ks_search_tell(search, jobs[k], KS_VERDICT_LAUNCH_FAILED, 0.0, "too large") == KS_OK);
          reference.tell(expected[k].id, Evaluation::failed(Verdict::launch_failed, "too large"));
        } else {
          REQUIRE(ks_search_tell(search, jobs[k], KS_VERDICT_OK, time_of(config), nullptr) == KS_OK);
          reference.tell(expected[k].id, Evaluation::succeeded(time_of(config)));
        }
      }
    }
    std::uint64_t best = 0;
    REQUIRE(ks_search_best(search, &best, nullptr, 0, nullptr) == KS_OK);
    CHECK(best == number(reference.best()->outcome.id));
    CHECK(ks_search_free(search) == KS_OK);
    CHECK(ks_policy_free(policy) == KS_OK);
  }
  CHECK(ks_space_free(same) == KS_OK);
}

}  // namespace
}  // namespace kernelsearch
