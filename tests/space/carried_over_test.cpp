// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/space/carried_over.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/space/space_builder.hpp"

using namespace kernelsearch;

TEST_CASE("carried over: by name and value, defaults for what is new, the nearest where it is forbidden") {
  const Space from =
      SpaceBuilder().add(Tunable::power_of_two("block", 1, 64)).add(Tunable::integer("unroll", 1, 4)).build();
  const Space space = SpaceBuilder()
                          .add(Tunable::integer("stages", 2, 3))
                          .add(Tunable::integer("unroll", 1, 8))
                          .add(Tunable::power_of_two("block", 4, 32))
                          .require("block * unroll <= 64")
                          .build();
  const auto at = [&](std::int64_t block, std::int64_t unroll) {
    return *from.config_of(std::vector<Value>{block, unroll});
  };
  CHECK(space.key(carried_over(from, at(16, 3), space)) == "2,3,16");
  CHECK(same_config(from, at(16, 3), space) == carried_over(from, at(16, 3), space));
  // No block of 1 here: the default stands in.
  CHECK(space.key(carried_over(from, at(1, 3), space)) == "2,3,4");
  CHECK_FALSE(same_config(from, at(1, 3), space).has_value());
  // 32 * 4 is forbidden here.
  CHECK(space.contains(carried_over(from, at(32, 4), space)));
  CHECK_FALSE(same_config(from, at(32, 4), space).has_value());
}
