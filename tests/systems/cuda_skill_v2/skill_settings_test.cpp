// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/cuda_skill_v2/skill_settings.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;

TEST_CASE("skill settings: what repeats a search is written and read back") {
  RooflineBudgetOptions options;
  options.iterations = 5;
  options.branches = 2;
  options.rewrites = 1;
  options.noise = 0.01;
  options.pairs = 2;
  options.budget.total = 4;
  options.limits.attempts = 3;
  options.from_frontier = true;
  options.device = {90, {"tma"}};
  options.methods.resize(2);
  options.methods[0].id = "compute.b";
  options.methods[1].id = "memory.a";
  std::vector<Method> registry(3);
  registry[0].id = "memory.a";
  registry[1].id = "latency.new";  // joined the registry since
  registry[2].id = "compute.b";
  const RooflineBudgetOptions again = read_skill_settings(skill_settings_json(options), registry);
  CHECK(again.iterations == 5);
  CHECK(again.branches == 2);
  CHECK(again.rewrites == 1);
  CHECK(again.noise == 0.01);
  CHECK(again.pairs == 2);
  CHECK(again.budget.total == 4);
  CHECK(again.limits.attempts == 3);
  CHECK(again.from_frontier);
  CHECK(again.device.architecture == 90);
  CHECK(again.device.features == std::vector<std::string>{"tma"});
  REQUIRE(again.methods.size() == 2);  // in the order of the run
  CHECK(again.methods[0].id == "compute.b");
  CHECK(again.methods[1].id == "memory.a");
  registry.pop_back();
  CHECK_THROWS_AS((void)read_skill_settings(skill_settings_json(options), registry), ConfigError);
  CHECK_THROWS_AS((void)read_skill_settings("[]", registry), ConfigError);
}
