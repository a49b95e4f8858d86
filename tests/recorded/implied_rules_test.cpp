// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/implied_rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernelsearch/core/expression.hpp"

using namespace kernelsearch;

namespace {

/// Everything that meets `constraints`, failing where `works` does not hold.
Recording of(const std::vector<Tunable>& tunables, const std::vector<Constraint>& constraints,
             const std::string& works = "True") {
  const Space space = Space::build(tunables, constraints);
  Recording recording{"r", "k", "d", "1", Space::build(tunables), {}};
  const Constraint right(works);
  space.for_each([&](const Config& config) {
    std::vector<Value> values;
    for (const std::string& name : right.names()) values.push_back(space.value(config, *space.find(name)));
    recording.trials.push_back(
        {config,
         right.holds(values) ? Evaluation::succeeded(1.0) : Evaluation::failed(Verdict::launch_failed, "no"),
         "", 0});
  });
  return recording;
}

std::vector<std::string> texts(const ImpliedRules& rules, RuleSubject subject = RuleSubject::recorded) {
  std::vector<std::string> all;
  for (const ImpliedRule& rule : rules.rules)
    if (rule.subject == subject) all.push_back(rule.text);
  return all;
}

const std::vector<std::string> layouts{"row", "col", "tiled"};
const std::vector<Tunable> tunables{
    Tunable::power_of_two("a", 1, 64),       Tunable::power_of_two("b", 1, 64), Tunable::integer("c", 1, 6),
    Tunable::categorical("layout", layouts), Tunable::boolean("fast"),          Tunable::integer("d", 1, 5)};

}  // namespace

TEST_CASE("implied rules: the constraint that the data were made with is found, and nothing else") {
  for (const char* text :
       {"a <= b", "a >= b", "a * b <= 256", "a * b >= 16", "a + b <= 80", "layout != 'col' or fast == True",
        "layout != 'row' or c in [1, 3]", "c != 4", "c not in [2, 5]"}) {
    CAPTURE(std::string(text));
    const Recording recording = of(tunables, {text});
    const ImpliedRules rules = implied_rules(recording);
    REQUIRE(rules.rules.size() == 1);
    CAPTURE(rules.rules[0].text);
    CHECK(rules.allowed == BigCount(recording.trials.size()));
    // Another word for the same is as good: the rule must allow exactly what was recorded.
    const Space same = Space::build(tunables, {Constraint(rules.rules[0].text)});
    CHECK(same.checksum() == Space::build(tunables, {Constraint(text)}).checksum());
  }
  CHECK(texts(implied_rules(of(tunables, {"a * b <= 256"}))) == std::vector<std::string>{"a * b <= 256"});
  CHECK(implied_rules(of(tunables, {})).rules.empty());
  CHECK(implied_rules(of(tunables, {})).allowed == Space::build(tunables).count());
}

TEST_CASE("implied rules: divisibility") {
  std::vector<Tunable> t = tunables;
  t[0] = Tunable::integer("a", 1, 12);
  t[1] = Tunable::integer("b", 1, 6);
  CHECK(texts(implied_rules(of(t, {"a % b == 0"}))) == std::vector<std::string>{"a % b == 0"});
}

TEST_CASE("implied rules: failures are told apart from what was not recorded") {
  const Recording recording = of(tunables, {"a <= b"}, "c * d <= 12");
  const ImpliedRules rules = implied_rules(recording);
  CHECK(texts(rules) == std::vector<std::string>{"a <= b"});
  CHECK(texts(rules, RuleSubject::right) == std::vector<std::string>{"c * d <= 12"});
  CHECK(texts(implied_rules(of(tunables, {}, "layout != 'tiled'")), RuleSubject::right) ==
        std::vector<std::string>{"layout != 'tiled'"});
}

TEST_CASE("implied rules: every rule holds for every record, whatever the data") {
  Rng rng(21);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    Recording recording = of(tunables, {}, "(a * 7 + c * c + d) % 5 != 2");
    // forget what a random condition says, and some at random
    const auto modulus = static_cast<std::uint32_t>(2 + rng.below(6));
    const bool sparse = rng.chance(0.3);
    std::erase_if(recording.trials, [&](const RecordedTrial& trial) {
      const auto& i = trial.config.indices;
      return (i[rng.below(1) + 2] * 3 + i[0] + i[5]) % modulus == 1 || (sparse && rng.chance(0.5));
    });
    const ImpliedRules rules = implied_rules(recording);
    CHECK(rules.allowed >= BigCount(recording.trials.size()));
    for (const ImpliedRule& rule : rules.rules) {
      CAPTURE(rule.text);
      const Constraint constraint(rule.text);
      CHECK(rule.excluded > 0);
      for (const RecordedTrial& trial : recording.trials) {
        if (rule.subject == RuleSubject::right && trial.evaluation.verdict != Verdict::ok) continue;
        std::vector<Value> values;
        for (const std::string& name : constraint.names())
          values.push_back(recording.space.value(trial.config, *recording.space.find(name)));
        REQUIRE(constraint.holds(values));
      }
    }
  }
}

TEST_CASE("implied rules: too few records say nothing") {
  Recording recording = of(tunables, {"a <= b"});
  Rng rng(4);
  std::erase_if(recording.trials, [&](const RecordedTrial&) { return rng.chance(0.98); });
  CHECK(implied_rules(recording).rules.empty());
}
