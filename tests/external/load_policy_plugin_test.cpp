// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/external/external_policy.hpp"
#include "kernelsearch/external/policy_contract.hpp"
#include "kernelsearch/external/policy_plugin.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch;

namespace {

std::string refusal(const std::string& file, const char* mode = "") {
  setenv("KERNELSEARCH_TEST_PLUGIN", mode, 1);
  std::string text;
  try {
    (void)load_policy_plugin(file);
  } catch (const ConfigError& error) {
    text = error.what();
  }
  unsetenv("KERNELSEARCH_TEST_PLUGIN");
  return text;
}

}  // namespace

TEST_CASE("load_policy_plugin: its policies work as ours do, and what they throw comes through") {
  const auto policies = load_policy_plugin(KERNELSEARCH_TEST_ODD_POLICIES);
  REQUIRE(policies.size() == 3);
  CHECK(policies[0].name == "one");
  CHECK(policies[0].summary == "draws");
  CHECK_FALSE(policies[0].own_process);
  CHECK(policies[0].source.find("odd_policies") != std::string::npos);
  for (const ContractProperty& property : check_policy_contract([&](const Space&s, std::uint64_t seed) {
         return policies[0].make({s, seed});
       }))
    CHECK_MESSAGE(property.holds(), property.name, ": ", property.fault);
  CHECK_THROWS_WITH(policies[1].make({contract_space(), 1}), "two is not ready");
}

TEST_CASE(
    "load_policy_plugin: what is no plug-in, or one for another library, is refused with both sides named") {
  const std::string other = refusal(KERNELSEARCH_TEST_OTHER_VERSION);
  check_has(other, "built for another library or by another compiler");
  check_has(other, "is for kernelsearch 0.0.1, g++ 2");
  check_has(other, "of this one: " + detail::plugin_abi());
  check_has(refusal(KERNELSEARCH_TEST_NO_PLUGIN), "is not a plug-in with policies");
  check_has(refusal("/nowhere/at_all.so"), "there is no such plug-in: /nowhere/at_all.so");
  check_has(refusal(KERNELSEARCH_SOURCE_DIR "/README.md"), "the plug-in cannot be loaded");
  check_has(refusal(KERNELSEARCH_TEST_ODD_POLICIES, "none"), "registers no policy");
  check_has(refusal(KERNELSEARCH_TEST_ODD_POLICIES, "throws"), "failed to register its policies");
  check_has(refusal(KERNELSEARCH_TEST_ODD_POLICIES, "twice"), "two policies of one name");
  check_has(refusal(KERNELSEARCH_TEST_ODD_POLICIES, "built_in"), "a built-in policy has that name: greedy");
}

TEST_CASE("load_policy_plugin: its policies take options as ours do") {
  const auto policies = load_policy_plugin(KERNELSEARCH_TEST_ODD_POLICIES);
  REQUIRE(policies.size() == 3);
  const ExternalPolicy& counted = policies[2];
  REQUIRE(counted.entry);
  CHECK(counted.entry->options.size() == 2);
  const Space space = contract_space();
  const auto first_of = [&](const ExternalPolicy& policy) {
    return space.rank(policy.make({space, 1}).ask(1).at(0)).to_string();
  };
  CHECK(first_of(counted) == "3");

  const ExternalPolicy chosen = with_options(counted, "counted( first = 5 )");
  CHECK(chosen.name == "counted(first=5)");
  CHECK(first_of(chosen) == "5");
  CHECK(first_of(with_options(counted, "counted")) == "3");
  CHECK(first_of(with_options(counted, "counted(backwards=true, first=0)")) == "100");

  const auto why = [](const ExternalPolicy& policy, const char* text) -> std::string {
    try {
      (void)with_options(policy, text);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return {};
  };
  check_has(why(counted, "counted(frist=5)"), "first");
  check_has(why(counted, "counted(first=6)"), "0 to 5");
  check_has(why(counted, "counted(first"), "counted(first");
  check_has(why(policies[0], "one(first=1)"),
            "the policy takes no options: one(first=1); name it alone: one");
}

TEST_CASE("plugin_abi: names version, compiler and sizes") {
  const std::string abi = detail::plugin_abi();
  CHECK(abi.rfind("kernelsearch " KERNELSEARCH_VERSION ", ", 0) == 0);
  CHECK(abi.find(std::to_string(sizeof(PolicySetup)) + "/" + std::to_string(sizeof(Space))) !=
        std::string::npos);
}
