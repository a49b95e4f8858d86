// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/system_registry.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/space/space_builder.hpp"
#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace scripted;

TEST_CASE("system registry: sorted, findable, with the nearest name for a slip") {
  std::string before;
  for (const SystemEntry& entry : system_entries()) {
    CHECK(before < entry.name);
    before = entry.name;
    CHECK(find_system(entry.name).summary == entry.summary);
    CHECK_FALSE(entry.budget.empty());
  }
  for (const SystemEntry& entry : system_entries()) {
    CHECK((entry.make != nullptr));
    CHECK_FALSE(entry.options.empty());
    // What it is made with where nothing is said is what its schema says.
    const SystemOptions standard(entry.name, entry.options, "");
    CHECK(SystemOptions(entry.name, entry.options, standard.json()).json() == standard.json());
    for (const SystemOption& option : entry.options) CHECK_FALSE(option.source.empty());
  }
  CHECK(find_system("stark").rewrites);
  CHECK_FALSE(find_system("helion_lfbo").asks);
  CHECK_THROWS_WITH_AS((void)find_system("peek"), doctest::Contains("did you mean peak?"), ConfigError);
}

TEST_CASE("system registry: options reach the policy that is made, and make() gives parts that fit") {
  SystemSetup setup;
  setup.problem.name = "p";
  setup.problem.kernel.space = SpaceBuilder()
                                   .add(Tunable::power_of_two("A", 1, 32768))
                                   .add(Tunable::power_of_two("B", 1, 32768))
                                   .build();
  const SystemEntry& lfbo = find_system("helion_lfbo");
  setup.options = SystemOptions(lfbo.name, lfbo.options, R"({"initial": 12})");
  SystemSearch made = lfbo.make(setup);
  auto* parts = std::get_if<SearchParts<Config>>(&made.parts);
  REQUIRE((parts != nullptr));
  CHECK_FALSE(static_cast<bool>(made.kernel_of));
  CHECK_FALSE(made.inner);
  // It begins with as many configurations as it is told, and waits for what becomes of them.
  CHECK(parts->policy.ask(50).size() == 12);
  setup.options = SystemOptions(lfbo.name, lfbo.options, "");
  SystemSearch usual = lfbo.make(setup);
  CHECK(std::get<SearchParts<Config>>(usual.parts).policy.ask(50).size() == 50);

  const SystemEntry& peak = find_system("peak");
  setup.options = SystemOptions(peak.name, peak.options, R"({"inner_trials": 7})");
  setup.seed = 5;
  made = peak.make(setup);
  CHECK(std::holds_alternative<SearchParts<Move>>(made.parts));
  REQUIRE(made.inner);
  CHECK(made.inner->options.max_trials == 7);
  CHECK(made.inner->options.seed == 5);
  CHECK(static_cast<bool>(made.kernel_of));

  const SystemEntry& skill = find_system("cuda_skill_v2");
  setup.options = SystemOptions(skill.name, skill.options, R"({"iterations": 9})");
  REQUIRE((skill.settings != nullptr));
  setup.earlier = skill.settings(setup);
  CHECK(setup.earlier.find("\"iterations\":9") != std::string::npos);
  // A run that goes on is made as it was, whatever the options say now.
  setup.options = SystemOptions(skill.name, skill.options, R"({"iterations": 1})");
  CHECK(skill.settings(setup) == setup.earlier);
  made = skill.make(setup);
  CHECK(made.pair_with_parent);
  CHECK(static_cast<bool>(made.report));
  CHECK_FALSE(made.one_at_a_time);
  setup.options = SystemOptions(skill.name, skill.options, R"({"from_files": "mine"})");
  made = skill.make(setup);
  CHECK(made.one_at_a_time);
  CHECK(made.report_folder == "mine");
}
