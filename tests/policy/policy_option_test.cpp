// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/policy_option.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/policy_choice.hpp"
#include "kernelsearch/policy/policy_text.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "support/policy_contract.hpp"

using namespace kernelsearch;

namespace policy_option_test {

/// A value that the option can have and does not have; names are of tunables of the contract's space.
PolicyOptionValue another(const PolicyOption& option, const PolicyOptionValue& now) {
  const Space space = policy_contract::small_space();
  switch (option.type) {
    case FieldType::flag:
      return !std::get<bool>(now);
    case FieldType::count:
      return std::get<std::int64_t>(now) + 1;
    case FieldType::number:
      return std::get<double>(now) + 0.25 <= option.most ? std::get<double>(now) + 0.25
                                                         : std::get<double>(now) - 0.25;
    case FieldType::text:
      for (const std::string_view choice : option.choices)
        if (choice != std::get<std::string>(now)) return std::string(choice);
      return space.tunable(0).name;
    case FieldType::counts:
    case FieldType::natural:
      FAIL("no policy has an option of this type yet");
      break;
    case FieldType::texts:
      break;
  }
  return std::vector<std::string>{space.tunable(1).name, space.tunable(0).name};
}

std::string refusal(std::string_view text) {
  const Result<PolicyChoice> choice = try_choose_policy(text);
  return choice ? "chosen: " + choice->text() : choice.error().text();
}

std::string bounds_of(const PolicyOption& option) {
  const auto number = [](double value) {
    std::ostringstream text;
    text.precision(15);
    text << value;
    return text.str() == "1e+06" ? "1000000" : text.str();
  };
  if (!option.choices.empty()) {
    std::string all;
    for (const std::string_view choice : option.choices)
      (all += (all.empty() ? "`" : ", `")) += std::string(choice) + "`";
    return all;
  }
  if (!std::isfinite(option.least)) return "";
  return std::isfinite(option.most) ? number(option.least) + " to " + number(option.most)
                                    : number(option.least) + " or more";
}

/// The tables of docs/policies.md.
std::string tables() {
  std::string text;
  for (const ConfigPolicyEntry& entry : config_policies()) {
    text += "\n### Options of `" + std::string(entry.name) + "`\n\n";
    if (entry.options.empty()) {
      text += "It has none.\n";
      continue;
    }
    text += "| option | type | left out | values | what it does |\n|---|---|---|---|---|\n";
    for (const PolicyOption& option : entry.options) {
      const auto standard = entry.standard(option);
      text += "| `" + std::string(option.name) + "` | " + type_name(option.type) + " | " +
              (standard ? "`" + field_text(*standard) + "`" : "as the space says") + " | " +
              bounds_of(option) + " | " + std::string(option.summary) + " |\n";
    }
  }
  return text;
}

}  // namespace policy_option_test

TEST_CASE("policy_option: each option of each policy is set alone, read back, and makes a policy") {
  const Space space = policy_contract::small_space();
  for (const ConfigPolicyEntry& entry : config_policies()) {
    const PolicySetup setup{space, 3};
    const PolicyOptionValues standard = entry.values(setup);
    REQUIRE(standard.size() == entry.options.size());
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < entry.options.size(); ++i) {
      const PolicyOption& option = entry.options[i];
      CAPTURE(std::string(entry.name) + "." + std::string(option.name));
      CHECK(names.insert(option.name).second);
      CHECK(standard[i].first == option.name);
      CHECK(standard[i].second.index() == static_cast<std::size_t>(option.type));
      CHECK_FALSE(option.summary.empty());
      CHECK(option.summary.find('\n') == std::string_view::npos);
      const Result<PolicyOptionValue> fits = option.try_value(entry.name, standard[i].second);
      REQUIRE(fits);
      CHECK(*fits == standard[i].second);

      PolicyChoice choice(entry);
      const PolicyOptionValue other = policy_option_test::another(option, standard[i].second);
      const Result<void> set = choice.try_set(option.name, other);
      REQUIRE_MESSAGE(set, set.error().text());
      PolicyOptionValues expected = standard;
      expected[i].second = other;
      CHECK(entry.values(setup, choice.options()) == expected);
      const PolicyChoice again = choose_policy(choice.text());
      CHECK(&again.entry() == &entry);
      CHECK(again.options() == choice.options());
      CHECK(again.text() == choice.text());
      CHECK(again.make(setup).ask(1).size() == 1);
    }
  }
}

TEST_CASE("policy_option: what is given is what the policy searches with") {
  const auto sequence = [](std::string_view text) {
    const Space space = policy_contract::small_space();
    AnyPolicy<Config> policy = make_config_policy(text, {space, 3});
    std::vector<std::string> keys;
    for (std::uint64_t i = 0; i < 40; ++i)
      for (const Config& config : policy.ask(1)) {
        keys.push_back(space.key(config));
        policy_contract::tell(policy, policy_contract::observe(space, config, i, i));
      }
    return keys;
  };
  CHECK(sequence("genetic(population=20, crossover=0.3)") == sequence("genetic"));
  CHECK(sequence("genetic(population=5)") != sequence("genetic"));
  CHECK(sequence("tabu(neighbourhood=hamming)") != sequence("tabu"));
  CHECK(sequence("hierarchical_ucb(prior=explore)") != sequence("hierarchical_ucb"));
  CHECK(sequence("uct(backup=mean)") != sequence("uct"));
  CHECK(sequence("bandit(window=2)") != sequence("bandit"));
  CHECK(sequence("best_of_k(k=3, climb=false)") != sequence("best_of_k(k=3)"));
}

TEST_CASE("policy_option: the default configuration is the space's affair unless it is said") {
  const ConfigPolicyEntry& genetic = **try_find_config_policy("genetic");
  const PolicyOption& first = **genetic.try_find("default_first");
  CHECK(first.from_space);
  CHECK_FALSE(genetic.standard(first));
  CHECK(genetic.standard(**genetic.try_find("population")) == PolicyOptionValue(std::int64_t{20}));
  const Space space = Space::build(
      {{.name = "x", .values = {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}}, .default_index = 2}});
  CHECK(genetic.values({space, 1})[0].second == PolicyOptionValue(true));
  CHECK(genetic.values({space, 1}, {{"default_first", false}})[0].second == PolicyOptionValue(false));
  CHECK(genetic.values({Space::without_tunables(), 1})[0].second == PolicyOptionValue(false));
  CHECK((**try_find_config_policy("helion_lfbo"))
            .standard(**(**try_find_config_policy("helion_lfbo")).try_find("initial")) ==
        PolicyOptionValue(std::int64_t{100}));
  CHECK((**try_find_config_policy("helion_lfbo_small"))
            .standard(**(**try_find_config_policy("helion_lfbo_small")).try_find("initial")) ==
        PolicyOptionValue(std::int64_t{50}));
}

TEST_CASE("policy_option: an option that does not fit is refused with what to give") {
  using policy_option_test::refusal;
  CHECK(refusal("genetic(poplation=3)") ==
        "kernelsearch: there is no such option of genetic: poplation; did you mean population? there are "
        "default_first, population, tournament, crossover, mutations, patience");
  CHECK(refusal("exhaustive(population=3)") ==
        "kernelsearch: there is no such option of exhaustive: population; exhaustive has no options");
  CHECK(refusal("genetic(population=40.5)") ==
        "kernelsearch: the option population of genetic is of another type: 40.5; give a whole number");
  CHECK(refusal("genetic(crossover='much')") ==
        "kernelsearch: the option crossover of genetic is of another type: much; give a number");
  CHECK(refusal("genetic(default_first=1)") ==
        "kernelsearch: the option default_first of genetic is of another type: 1; give true or false");
  CHECK(refusal("tabu(neighbourhood=true)") ==
        "kernelsearch: the option neighbourhood of tabu is of another type: true; give a string");
  CHECK(refusal("helion_lfbo(block_sizes=block)") ==
        "kernelsearch: the option block_sizes of helion_lfbo is of another type: block; give a list of "
        "strings, [a, b]");
  CHECK(
      refusal("genetic(population=1)") ==
      "kernelsearch: the option population of genetic is out of bounds: 1; give a number from 2 to 1000000");
  CHECK(refusal("genetic(crossover=1.5)") ==
        "kernelsearch: the option crossover of genetic is out of bounds: 1.5; give a number from 0.0 to 1.0");
  CHECK(
      refusal("genetic(mutations=-1)") ==
      "kernelsearch: the option mutations of genetic is out of bounds: -1.0; give a number of at least 0.0");
  CHECK(refusal("tabu(neighbourhood=adjacnt)") ==
        "kernelsearch: the option neighbourhood of tabu has no such value: adjacnt; did you mean adjacent? "
        "there are hamming, adjacent");
  CHECK(refusal("genetc(population=3)")
            .find("no policy of that name: genetc; did you mean genetic? there are "
                  "bandit, ") != std::string::npos);
  PolicyChoice choice = choose_policy("genetic(crossover=1)");
  CHECK(choice.text() == "genetic(crossover=1.0)");
  CHECK_FALSE(choice.try_set("mutations", std::numeric_limits<double>::infinity()));
  CHECK_FALSE(choice.try_set("mutations", std::numeric_limits<double>::quiet_NaN()));
  REQUIRE(choice.try_set("population", std::int64_t{30}));
  REQUIRE(choice.try_set("crossover", 0.5));
  CHECK(choice.text() == "genetic(population=30, crossover=0.5)");
  CHECK_THROWS_WITH_AS((void)choose_policy("genetic(population=0)"), doctest::Contains("out of bounds"),
                       ConfigError);
  const PolicySetup setup{policy_contract::small_space(), 1};
  CHECK_THROWS_WITH_AS((void)config_policies()[0].make(setup, {{"none", true}}),
                       doctest::Contains("there is no such option of bandit: none"), ConfigError);
  CHECK_THROWS_WITH_AS((void)config_policies()[0].make(setup, {{"window", true}}),
                       doctest::Contains("of another type: true"), ConfigError);
  CHECK_THROWS_WITH_AS((void)make_config_policy("helion_lfbo(warps=none)", setup),
                       doctest::Contains("no tunable of that name: none"), ConfigError);
}

TEST_CASE("policy_option: docs/policies.md has the options of each policy as they are") {
  const std::string file = std::string(KERNELSEARCH_SOURCE_DIR) + "/docs/policies.md";
  std::ifstream in(file);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::string begin = "<!-- options: written by test_policy -->\n", end = "\n<!-- end of options -->\n";
  const std::size_t from = page.find(begin), to = page.find(end);
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const std::string wanted = policy_option_test::tables();
  if (std::getenv("KERNELSEARCH_TEST_UPDATE") != nullptr)
    std::ofstream(file) << page.substr(0, from + begin.size()) << wanted << page.substr(to);
  else
    CHECK_MESSAGE(page.substr(from + begin.size(), to - from - begin.size()) == wanted,
                  "run KERNELSEARCH_TEST_UPDATE=1 test_policy -tc='policy_option: docs*'");
}
