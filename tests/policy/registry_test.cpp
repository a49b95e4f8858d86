// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/registry.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"
#include "support/policy_contract.hpp"

using namespace kernelsearch;

TEST_CASE("registry: every policy listed can be made by its name and keeps the contract") {
  CHECK(config_policies().size() >= 3);
  for (const ConfigPolicyEntry& entry : config_policies()) {
    CAPTURE(entry.name);
    policy_contract::check([&entry](const Space& space, std::uint64_t seed) {
      return make_config_policy(entry.name, {space, seed});
    });
  }
}

TEST_CASE("registry: every summary says what its policy is for") {
  for (const ConfigPolicyEntry& entry : config_policies()) {
    CAPTURE(entry.summary);
    const auto says = [&entry](const char* words) {
      return entry.summary.find(words) != std::string_view::npos;
    };
    CHECK((says("; for ") || says("; where ") || says("; second to ") || says(": the default") ||
           says(": the baseline")));
  }
}

TEST_CASE("registry: an unknown name is refused with the names there are") {
  const Result<AnyPolicy<Config>> tried =
      try_make_config_policy("randon", {policy_contract::small_space(), 1});
  REQUIRE_FALSE(tried);
  CHECK(tried.error().text().find("did you mean random?") != std::string::npos);
  CHECK(try_make_config_policy("random", {policy_contract::small_space(), 1}).ok());
  CHECK_THROWS_WITH_AS((void)make_config_policy("randon", {policy_contract::small_space(), 1}),
                       doctest::Contains("randon; did you mean random?"), ConfigError);
}
