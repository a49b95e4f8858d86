// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/space/tunable.hpp"

#include <doctest/doctest.h>

#include <iterator>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;

TEST_CASE("Tunable: the makers list their values in order") {
  CHECK(Tunable::integer("x", 2, 8, 3).values ==
        std::vector<Value>{std::int64_t{2}, std::int64_t{5}, std::int64_t{8}});
  CHECK(Tunable::integer("x", 3, 1, -2).values == std::vector<Value>{std::int64_t{3}, std::int64_t{1}});
  CHECK(Tunable::power_of_two("x", 4, 32).values.size() == 4);
  CHECK(Tunable::boolean("x").values == std::vector<Value>{false, true});
  CHECK(Tunable::permutation("x", 3).values.size() == 6);
  CHECK(Tunable::permutation("x", 3).values[0] == Value{Permutation{0, 1, 2}});
  CHECK_THROWS_AS((void)Tunable::integer("x", 1, 5, 0), ConfigError);
  CHECK_THROWS_AS((void)Tunable::integer("x", 0, std::int64_t{1} << 40), ConfigError);
}

TEST_CASE("Tunable: the kind is read off the values") {
  const auto kind = [](std::vector<Value> values) { return Tunable::of("x", std::move(values)).kind; };
  CHECK(kind({true, false}) == TunableKind::boolean);
  CHECK(kind({std::int64_t{16}, std::int64_t{32}}) == TunableKind::power_of_two);
  CHECK(kind({std::int64_t{0}, std::int64_t{32}}) == TunableKind::integer);
  CHECK(kind({std::int64_t{1}, 0.5}) == TunableKind::floating);
  CHECK(kind({std::string("a"), std::int64_t{1}}) == TunableKind::categorical);
  CHECK(kind({Permutation{0, 1}, Permutation{1, 0}}) == TunableKind::permutation);
  CHECK(std::string(to_string(TunableKind::power_of_two)) == "power_of_two");
}

TEST_CASE("Tunable: every role has a name of its own, which is found again") {
  for (const TunableRole role : tunable_roles) CHECK(role_named(to_string(role)) == role);
  CHECK(std::size(tunable_roles) == static_cast<std::size_t>(TunableRole::algorithm) + 1);
  CHECK_FALSE(role_named("thread").has_value());
  CHECK(role_names() ==
        "block_size, warps, threads, tile, work, vector, unroll, stages, shared, pad, layout, algorithm");
}

TEST_CASE("Tunable: positions and defaults match equal numbers of other types") {
  const Tunable tile = Tunable::integer("tile", 1, 8);
  CHECK(tile.position(std::int64_t{3}) == 2);
  CHECK(tile.position(3.0) == 2);
  CHECK(tile.position(true) == 0);
  CHECK_FALSE(tile.position(std::string("3")).has_value());
  CHECK(tile.with_default(4.0).default_index == 3);
  CHECK_THROWS_AS((void)tile.with_default(std::int64_t{9}), ConfigError);
  CHECK(tile.when("use_tiles").active_if->names() == std::vector<std::string>{"use_tiles"});
}
