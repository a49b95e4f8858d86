// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/policy_bandit.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "support/approx.hpp"
#include "support/policy_contract.hpp"
#include "support/search_driver.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;
using search_driver::grid;
using search_driver::run;

namespace {

/// Proposes what it was given, in that order, and writes down what it hears.
struct Scripted {
  using Proposal = Config;
  std::vector<Config> script;
  std::shared_ptr<std::vector<Observation<Config>>> heard =
      std::make_shared<std::vector<Observation<Config>>>();
  std::size_t next = 0;

  std::vector<Config> ask(std::size_t n) {
    std::vector<Config> proposals;
    while (proposals.size() < n && next < script.size()) proposals.push_back(script[next++]);
    return proposals;
  }
  void tell(std::span<const Observation<Config>> batch) {
    heard->insert(heard->end(), batch.begin(), batch.end());
  }
};

std::vector<Config> line(std::uint32_t from, std::uint32_t to) {
  std::vector<Config> configs;
  for (std::uint32_t i = from; i < to; ++i) configs.push_back(Config{{i}});
  return configs;
}

std::vector<BanditArm> arms(Scripted a, Scripted b) {
  std::vector<BanditArm> both;
  both.push_back({"a", std::move(a)});
  both.push_back({"b", std::move(b)});
  return both;
}

}  // namespace

TEST_CASE("PolicyBandit: keeps the contract of policies over spaces") {
  policy_contract::check([](const Space& space, std::uint64_t seed) {
    return PolicyBandit(default_bandit_arms(space, seed), {.seed = seed});
  });
}

TEST_CASE("PolicyBandit: uses the arm more that finds new bests") {
  PolicyBandit policy(arms({line(0, 1000)}, {line(1000, 2000)}), {.seed = 1});
  double best = 1000;
  (void)run(policy, 100, [&](const Config& c) { return c.indices[0] < 1000 ? 2000.0 : best -= 1; });
  CHECK(policy.name(1) == "b");
  CHECK(policy.uses(0) + policy.uses(1) == 100);
  CHECK(policy.uses(1) > 90);
  CHECK(policy.credit(1) == 1);
  CHECK(policy.credit(0) < 0.6);  // its first proposal may have been the first best
}

TEST_CASE(
    "PolicyBandit: exploration brings back an arm that has earned nothing; without it it is used once") {
  const auto uses_of_the_idle = [](double exploration) {
    PolicyBandit policy(arms({line(0, 1000)}, {line(1000, 2000)}), {.seed = 1, .exploration = exploration});
    double best = 1000;
    (void)run(policy, 100, [&](const Config& c) { return c.indices[0] < 1000 ? 2000.0 : best -= 1; });
    return policy.uses(0);
  };
  CHECK(uses_of_the_idle(0.0) <= 2);  // its first proposal may have been the first best
  CHECK(uses_of_the_idle(1.0) >= 5);
}

TEST_CASE("PolicyBandit: forgets what left the window") {
  PolicyBandit policy(arms({line(0, 1000)}, {line(1000, 2000)}), {.seed = 1, .window = 20});
  double best = 1000;
  (void)run(policy, 50, [&](const Config& c) { return c.indices[0] < 1000 ? 2000.0 : best -= 1; });
  CHECK(policy.credit(1) == 1);
  (void)run(
      policy, 50, [](const Config&) { return 2000.0; }, 50);
  CHECK(policy.credit(1) == 0);
  CHECK(policy.uses(0) > 10);
}

TEST_CASE("PolicyBandit: late bests weigh more than early ones") {
  PolicyBandit early(arms({line(0, 1000)}, {{}}), {.seed = 1}),
      late(arms({line(0, 1000)}, {{}}), {.seed = 1});
  double best = 1000;
  (void)run(early, 20, [&](const Config& c) { return c.indices[0] < 10 ? best -= 1 : 2000.0; });
  CHECK(early.credit(0) == approx(55.0 / 210));
  best = 1000;
  (void)run(late, 20, [&](const Config& c) { return c.indices[0] < 10 ? 2000.0 : best -= 1; });
  CHECK(late.credit(0) == approx(156.0 / 210));  // 1, and 11 to 20
}

TEST_CASE("PolicyBandit: every arm hears everything, under its own count or as foreign") {
  Scripted a{line(0, 100)}, b{line(100, 200)};
  PolicyBandit policy(arms(a, b), {.seed = 1});
  const auto sequence = run(policy, 40, [](const Config&) { return 1.0; });
  search_driver::tell(policy, Config{{500}}, 1, 40, std::nullopt);
  REQUIRE(a.heard->size() == 41);
  REQUIRE(b.heard->size() == 41);
  std::uint64_t of_a = 0, of_b = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    const bool is_a = sequence[i].indices[0] < 100;
    const auto& own = (is_a ? *a.heard : *b.heard)[i].outcome.origin;
    const auto& foreign = (is_a ? *b.heard : *a.heard)[i].outcome.origin;
    CHECK_FALSE(foreign);
    REQUIRE(own);
    CHECK(number(own->proposal) == (is_a ? of_a++ : of_b++));
  }
  CHECK(of_a > 0);
  CHECK(of_b > 0);
  CHECK_FALSE(a.heard->back().outcome.origin);
  CHECK_FALSE(b.heard->back().outcome.origin);
}

TEST_CASE("PolicyBandit: what two arms want is proposed once and told to both as their own") {
  Scripted a{line(0, 10)}, b{line(0, 10)};
  PolicyBandit policy(arms(a, b), {.seed = 1});
  const auto proposed = policy.ask(20);
  CHECK(proposed == line(0, 10));
  for (std::uint64_t i = 0; i < 10; ++i) search_driver::tell(policy, proposed[i], 1, i, i);
  for (const auto& heard : {a.heard, b.heard}) {
    REQUIRE(heard->size() == 10);
    for (std::uint64_t i = 0; i < 10; ++i) {
      REQUIRE((*heard)[i].outcome.origin);
      CHECK(number((*heard)[i].outcome.origin->proposal) == i);
    }
  }
  CHECK(policy.ask(1).empty());
}

TEST_CASE("PolicyBandit: goes on with the other arms when one has ended, and takes turns within one ask") {
  PolicyBandit policy(arms({line(0, 2)}, {line(100, 150)}), {.seed = 1});
  CHECK(run(policy, 100, [](const Config&) { return 1.0; }).size() == 52);
  PolicyBandit parallel(arms({line(0, 100)}, {line(100, 200)}), {.seed = 1});
  (void)parallel.ask(40);
  CHECK(parallel.uses(0) >= 15);
  CHECK(parallel.uses(1) >= 15);
}

TEST_CASE("PolicyBandit: a best that turns out wrong no longer bars others") {
  PolicyBandit policy(arms({line(0, 100)}, {{}}), {.seed = 1});
  const auto sequence = run(
      policy, 2, [first = true](const Config&) mutable { return std::exchange(first, false) ? 1.0 : 5.0; });
  search_driver::tell(policy, sequence[0], 10, 0, 0);
  (void)run(
      policy, 1, [](const Config&) { return 3.0; }, 2);
  CHECK(policy.credit(0) == approx(4.0 / 6));  // the first and the third of three
}

TEST_CASE("PolicyBandit: an arm that waits for its own model is waited for") {
  struct Waiting : Scripted {
    bool await() { return script.empty() ? (script = line(0, 1), true) : false; }
  };
  std::vector<BanditArm> one;
  one.push_back({"waiting", Waiting{}});
  PolicyBandit policy(std::move(one));
  CHECK(policy.ask(1).empty());
  CHECK(policy.await());
  CHECK(policy.ask(1).size() == 1);
  CHECK_FALSE(policy.await());
}

TEST_CASE("PolicyBandit: needs an arm") {
  CHECK_THROWS_WITH_AS(PolicyBandit(std::vector<BanditArm>{}), doctest::Contains("needs arms"), ConfigError);
}
