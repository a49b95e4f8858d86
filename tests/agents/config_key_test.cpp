// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/config_key.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernelsearch/space/space_builder.hpp"

using namespace kernelsearch;

TEST_CASE("config_of_key reads what Space::key wrote, commas in values included") {
  const Space space = SpaceBuilder()
                          .add(Tunable::integer("n", 1, 12))
                          .add(Tunable::categorical("s", std::vector<std::string>{"a", "a,1", "1"}))
                          .add(Tunable::permutation("p", 3))
                          .add(Tunable::boolean("b"))
                          .require("n != 11")
                          .build();
  space.for_each([&](const Config& config) { CHECK(config_of_key(space, space.key(config)) == config); });
  CHECK_FALSE(config_of_key(space, "11,a,[0, 1, 2],true"));
  CHECK_FALSE(config_of_key(space, "1,a,[0, 1, 2]"));
  CHECK_FALSE(config_of_key(space, "1,a,[0, 1, 2],true,"));
  CHECK_FALSE(config_of_key(space, ""));
  const Space none = Space::build({});
  CHECK(config_of_key(none, none.key(none.default_config())) == none.default_config());
}
