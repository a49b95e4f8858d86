// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two policies, of which one throws; or, by the environment, none, or one with a built-in name.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "kernelsearch/external/policy_plugin.hpp"
#include "kernelsearch/policy/random_search.hpp"

using namespace kernelsearch;

KERNELSEARCH_POLICY_PLUGIN(policies) {
  const char* wish = std::getenv("KERNELSEARCH_TEST_PLUGIN");
  const std::string mode = wish != nullptr ? wish : "";
  if (mode == "none") return;
  if (mode == "throws") throw std::runtime_error("not today");
  const auto random = [](const PolicySetup& setup) {
    return AnyPolicy<Config>(RandomSearch(setup.space, {.seed = setup.seed}));
  };
  policies.add(mode == "built_in" ? "greedy" : "one", "draws", random);
  policies.add(mode == "twice" ? "one" : "two", "throws",
               [](const PolicySetup&) -> AnyPolicy<Config> { throw std::runtime_error("two is not ready"); });
}
