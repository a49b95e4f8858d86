// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/space_strategies.hpp"

#include <doctest/doctest.h>

#include <set>

#include "kernelsearch/core/error.hpp"
#include "support/policy_contract.hpp"

using namespace kernelsearch;

namespace {

const auto never = [](const Config&) { return false; };

std::set<std::size_t> differing_tunables(const Config& a, const Config& b) {
  std::set<std::size_t> result;
  for (std::size_t i = 0; i < a.indices.size(); ++i)
    if (a.indices[i] != b.indices[i]) result.insert(i);
  return result;
}

Move rewrite(std::vector<std::string> strategies, std::uint32_t variant = 0) {
  return {MoveKind::rewrite, {TrialId{0}}, std::move(strategies), variant};
}

}  // namespace

TEST_CASE("SpaceStrategies: by default each tunable that can vary is a strategy of its own") {
  const Space space = SpaceBuilder()
                          .add(Tunable::power_of_two("block", 16, 64))
                          .add(Tunable::integer("fixed", 3, 3))
                          .add(Tunable::boolean("pad"))
                          .build();
  CHECK(SpaceStrategies(space).names() == std::vector<std::string>{"block", "pad"});
}

TEST_CASE("SpaceStrategies: a rewrite changes its group alone, and its variants are all different") {
  const Space space = policy_contract::small_space();
  const SpaceStrategies strategies(space, {.groups = {{"tile", {"block", "unroll"}}, {"pad", {"pad"}}}});
  const Config parent = space.default_config();
  std::set<Config> seen;
  for (std::uint32_t variant = 0; variant < 200; ++variant) {
    const auto child = strategies.apply(rewrite({"tile"}, variant), std::span(&parent, 1),
                                        [&](const Config& config) { return seen.contains(config); });
    if (!child) break;
    CHECK(space.contains(*child));
    for (const std::size_t i : differing_tunables(parent, *child)) CHECK(i < 2);
    CHECK(*child != parent);
    seen.insert(*child);
  }
  std::size_t expected = 0;
  space.for_each([&](const Config& config) {
    expected +=
        config != parent && config.indices[2] == parent.indices[2] && config.indices[3] == parent.indices[3];
  });
  CHECK(seen.size() == expected);
  CHECK(strategies.apply(rewrite({"tile"}, 1), std::span(&parent, 1), never) !=
        strategies.apply(rewrite({"tile"}, 2), std::span(&parent, 1), never));
  CHECK_FALSE(strategies.apply(rewrite({"unheard of"}), std::span(&parent, 1), never));
}

TEST_CASE("SpaceStrategies: root, debug, ablation and recombination") {
  const Space space = policy_contract::small_space();
  const SpaceStrategies strategies(space);
  CHECK(strategies.apply(Move{}, {}, never) == space.default_config());
  CHECK_FALSE(strategies.apply(Move{}, {}, [](const Config&) { return true; }));
  Rng rng(2);
  for (int i = 0; i < 50; ++i) {
    const Config a = space.sample(rng), b = space.sample(rng);
    const auto mended = strategies.apply({MoveKind::debug, {TrialId{0}}, {}}, std::span(&a, 1), never);
    REQUIRE(mended);
    CHECK(differing_tunables(a, *mended).size() == 1);
    if (const auto plain =
            strategies.apply({MoveKind::ablate, {TrialId{0}}, {"unroll"}}, std::span(&a, 1), never))
      CHECK(plain->indices[1] == space.default_config().indices[1]);
    const std::vector<Config> both{a, b};
    const auto joined = strategies.apply({MoveKind::recombine, {TrialId{0}, TrialId{1}}, {}}, both,
                                         [&](const Config& config) { return config == a || config == b; });
    if (joined) CHECK(space.contains(*joined));
  }
}

TEST_CASE("SpaceStrategies: groups with more alternatives than are listed are sampled") {
  SpaceBuilder builder;
  TunableGroup all{"all", {}};
  for (int i = 0; i < 12; ++i) {
    builder.add(Tunable::integer("t" + std::to_string(i), 0, 9));
    all.tunables.push_back("t" + std::to_string(i));
  }
  const Space space = builder.build();
  const SpaceStrategies strategies(space, {.groups = {all}});
  const Config parent = space.default_config();
  const auto a = strategies.apply(rewrite({"all"}), std::span(&parent, 1), never);
  REQUIRE(a);
  CHECK(differing_tunables(parent, *a).size() > 3);
  CHECK(a == strategies.apply(rewrite({"all"}), std::span(&parent, 1), never));
}

TEST_CASE("SpaceStrategies: groups must name tunables of the space") {
  const Space space = policy_contract::small_space();
  CHECK_THROWS_WITH_AS(SpaceStrategies(space, {.groups = {{"x", {"blok"}}}}), doctest::Contains("blok"),
                       ConfigError);
  CHECK_THROWS_AS(SpaceStrategies(space, {.groups = {{"x", {}}}}), ConfigError);
}
