// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/impl/ledger.hpp"

#include <doctest/doctest.h>

#include <string>
#include <unordered_set>
#include <vector>

#include "support/policy_contract.hpp"
#include "support/search_driver.hpp"

using namespace kernelsearch;
using detail::Ledger;
using search_driver::differing;
using search_driver::grid;
using search_driver::observation;

namespace {
constexpr double ledger_infinity = std::numeric_limits<double>::infinity();
Config at(std::initializer_list<std::uint32_t> indices) {
  return Config{indices};
}
/// Makes `config` known without proposing it.
void know(Ledger& ledger, const Config& config, double objective = 1) {
  ledger.record(observation(config, objective, 0, std::nullopt));
}
}  // namespace

TEST_CASE("Ledger: keeps results, their revisions and the best") {
  Ledger ledger(grid(2, 9), 1, false);
  CHECK(ledger.best() == nullptr);
  CHECK_FALSE(ledger.known(at({1, 1})));
  CHECK(ledger.record(observation(at({1, 1}), 5, 0, std::nullopt)));
  CHECK(ledger.record(observation(at({2, 2}), 3, 1, std::nullopt)));
  CHECK(ledger.record(observation(at({3, 3}), ledger_infinity, 2, std::nullopt)));
  CHECK(ledger.known(at({1, 1})));
  CHECK(ledger.result(at({1, 1})) == 5);
  CHECK(ledger.result(at({3, 3})) == ledger_infinity);
  CHECK_FALSE(ledger.result(at({4, 4})));
  REQUIRE(ledger.best() != nullptr);
  CHECK(ledger.best()->config == at({2, 2}));
  CHECK_FALSE(ledger.record(observation(at({2, 2}), 7, 1, std::nullopt)));  // measured again: slower
  CHECK(ledger.best()->config == at({1, 1}));
  ledger.record(observation(at({1, 1}), ledger_infinity, 0, std::nullopt));  // a fraud
  CHECK(ledger.best()->config == at({2, 2}));
  CHECK(ledger.best()->objective == 7);
  ledger.record(observation(at({2, 2}), ledger_infinity, 1, std::nullopt));
  CHECK(ledger.best() == nullptr);
}

TEST_CASE("Ledger: what is proposed is known and outstanding until it is told") {
  Ledger ledger(grid(2, 9), 1, true);
  const auto proposed = ledger.propose(3, [&] { return ledger.random(); });
  REQUIRE(proposed.size() == 3);
  CHECK(proposed[0] == ledger.space().default_config());
  CHECK(ledger.outstanding() == 3);
  CHECK(ledger.known(proposed[1]));
  CHECK_FALSE(ledger.result(proposed[1]));
  CHECK(ledger.record(observation(proposed[1], 2, 0, 1)));
  CHECK(ledger.outstanding() == 2);
  CHECK(ledger.result(proposed[1]) == 2);
  CHECK(ledger.propose(2, []() -> std::optional<Config> { return std::nullopt; }).empty());
}

TEST_CASE("Ledger: random draws cover the unknown part of the space, once") {
  const Space space = policy_contract::small_space();
  Ledger ledger(space, 1, false);
  Rng rng(1);
  std::unordered_set<Config> all;
  for (int i = 0; i < 20; ++i) {
    const Config config = space.sample(rng);
    know(ledger, config);
    all.insert(config);
  }
  const std::size_t known = all.size();
  const auto proposed = ledger.propose(10000, [&] { return ledger.random(); });
  CHECK(proposed.size() == space.count().low() - known);
  for (const Config& config : proposed) {
    CHECK(space.contains(config));
    CHECK(all.insert(config).second);
  }
}

TEST_CASE("Ledger: a wish is repaired to itself, the nearest valid, or an unknown one next to that") {
  const Space space = policy_contract::small_space();
  Ledger ledger(space, 1, false);
  Rng rng(1);
  const Config valid = space.default_config();
  CHECK(ledger.repair(valid, rng) == valid);
  Config broken = valid;
  broken.indices = {4, 5, 0, 0};  // block 256, unroll 6: against the constraint
  REQUIRE_FALSE(space.contains(broken));
  CHECK(ledger.repair(broken, rng) == space.nearest(broken));
  know(ledger, valid);
  for (int i = 0; i < 20; ++i) {
    const auto repaired = ledger.repair(valid, rng);
    REQUIRE(repaired);
    CHECK(space.contains(*repaired));
    CHECK(differing(*repaired, valid) == 1);
  }
  for (const Config& around : space.neighbours(valid, Neighbourhood::hamming)) know(ledger, around);
  const auto beyond = ledger.repair(valid, rng);  // one step is used up: a few
  REQUIRE(beyond);
  CHECK_FALSE(ledger.known(*beyond));
  CHECK(differing(*beyond, valid) > 1);
}

TEST_CASE("Ledger: the last unknown configuration is found from anywhere, then nothing") {
  const Space space = policy_contract::small_space();
  Ledger ledger(space, 1, false);
  Rng rng(1), draw(5);
  const Config last = space.sample(draw);
  space.for_each([&](const Config& config) {
    if (config != last) know(ledger, config);
  });
  const Config from = space.default_config() == last ? space.unrank(BigCount(0)) : space.default_config();
  CHECK(ledger.near(from, rng) == last);
  know(ledger, last);
  CHECK_FALSE(ledger.near(from, rng));
  CHECK_FALSE(ledger.random());
}

TEST_CASE("Ledger: neighbours are one step away, in the neighbourhood asked for") {
  const Space space = grid(3, 9);
  Ledger ledger(space, 1, false);
  Rng rng(1);
  const Config from = at({0, 5, 9});
  std::unordered_set<Config> adjacent, hamming;
  for (int i = 0; i < 2000; ++i) {
    adjacent.insert(*ledger.neighbour(from, Neighbourhood::adjacent, rng));
    hamming.insert(*ledger.neighbour(from, Neighbourhood::hamming, rng));
  }
  const auto expected = [&](Neighbourhood neighbourhood) {
    const auto list = space.neighbours(from, neighbourhood);
    return std::unordered_set<Config>(list.begin(), list.end());
  };
  CHECK(adjacent == expected(Neighbourhood::adjacent));
  CHECK(hamming == expected(Neighbourhood::hamming));
  CHECK(ledger.neighbours(from, Neighbourhood::adjacent, rng).size() == 4);
}

TEST_CASE("Ledger: adjacent are also all values of short lists and of names, and the swaps of an order") {
  const Space space =
      SpaceBuilder()
          .add(Tunable::integer("mode", 0, 3))
          .add(Tunable::integer("size", 0, 4))
          .add(Tunable::categorical("layout", std::vector<std::string>{"a", "b", "c", "d", "e"}))
          .add(Tunable::permutation("order", 3))
          .build();
  Ledger ledger(space, 1, false);
  Rng rng(1);
  const Config from = at({0, 0, 0, 0});
  std::size_t by_tunable[4] = {};
  for (const Config& config : ledger.neighbours(from, Neighbourhood::adjacent, rng)) {
    REQUIRE(differing(config, from) == 1);
    for (std::size_t t = 0; t < 4; ++t) by_tunable[t] += config.indices[t] != 0 ? 1 : 0;
  }
  CHECK(by_tunable[0] == 3);
  CHECK(by_tunable[1] == 1);
  CHECK(by_tunable[2] == 4);
  CHECK(by_tunable[3] == 3);
  std::unordered_set<Config> drawn;
  for (int i = 0; i < 2000; ++i) drawn.insert(*ledger.neighbour(from, Neighbourhood::adjacent, rng));
  CHECK(drawn.size() == 3 + 1 + 4 + 5);  // of an order any other
}

TEST_CASE("Ledger: of very long value lists only a part is listed") {
  const Space space = grid(2, 100000);
  Ledger ledger(space, 1, false);
  Rng rng(1);
  const Config from = at({7, 7});
  const auto some = ledger.neighbours(from, Neighbourhood::hamming, rng);
  CHECK(some.size() > 500);
  CHECK(some.size() < 2000);
  std::unordered_set<Config> distinct(some.begin(), some.end());
  CHECK(distinct.size() == some.size());
  for (const Config& config : some) CHECK(differing(config, from) == 1);
}

TEST_CASE("Ledger: tunables with one usable value are not free") {
  const Space space = SpaceBuilder()
                          .add(Tunable::integer("a", 0, 9))
                          .add(Tunable::integer("only", 3, 3))
                          .add(Tunable::integer("pinned", 0, 5))
                          .require("pinned == 2")
                          .build();
  const Ledger ledger(space, 1, false);
  REQUIRE(ledger.free().size() == 1);
  CHECK(ledger.free()[0] == 0);
}
