// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/space/space_builder.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("SpaceBuilder: tunables, expressions and functions make a space; building again gives the same") {
  SpaceBuilder builder;
  builder.add(Tunable::power_of_two("block", 32, 1024))
      .add(Tunable::integer("tile", 1, 8))
      .require("block * tile <= 2048")
      .require({"tile", "block"},
               [](std::span<const Value> v) { return to_number(v[0]) != 3 || to_number(v[1]) < 64; });
  const Space space = builder.build();
  std::uint64_t expected = 0;
  for (int block = 32; block <= 1024; block *= 2) {
    for (int tile = 1; tile <= 8; ++tile)
      expected += block * tile <= 2048 && (tile != 3 || block < 64) ? 1 : 0;
  }
  CHECK(space.count() == BigCount(expected));
  CHECK(builder.build().checksum() == space.checksum());
}
