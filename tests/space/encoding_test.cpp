// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/space/encoding.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/space/space_builder.hpp"

using namespace kernelsearch;

namespace {

Space example() {
  const std::vector<std::string> layouts{"row", "col", "tiled"};
  return SpaceBuilder()
      .add(Tunable::power_of_two("block", 16, 256))
      .add(Tunable::integer("tile", 1, 6))
      .add(Tunable::boolean("unroll"))
      .add(Tunable::categorical("layout", layouts))
      .add(Tunable::permutation("order", 3))
      .add(Tunable::integers("threads", std::vector<std::int64_t>{0, 1, 2, 4}))
      .add(Tunable::integers("down", std::vector<std::int64_t>{9, 6, 3}))
      .require("tile != 4")
      .require("block * tile <= 512")
      .build();
}

using Positions = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("Encoding: features by kind of tunable, with names") {
  const Encoding encoding(example());
  CHECK(encoding.names() == std::vector<std::string>{"log2(block)", "tile", "unroll", "layout=row",
                                                     "layout=col", "layout=tiled", "order[0]", "order[1]",
                                                     "order[2]", "log2(threads)", "down"});
  CHECK(encoding.encode(Config{{2, 4, 1, 1, 5, 3, 0}}) ==
        std::vector<double>{6, 5, 1, 0, 1, 0, 2, 1, 0, 3, 9});
  CHECK(encoding.encode(Config{{0, 0, 0, 0, 0, 0, 2}}) ==
        std::vector<double>{4, 1, 0, 1, 0, 0, 0, 1, 2, 0, 3});
  CHECK(encoding.tunable_of(4) == 3);
  CHECK(encoding.tunable_of(10) == 6);
  CHECK_THROWS_AS((void)encoding.encode(Config{{1}}), ConfigError);
}

TEST_CASE("Encoding: steps within a radius, over usable values") {
  const Encoding encoding(example());
  CHECK(encoding.steps(0, 2) == Positions{1, 3});
  CHECK(encoding.steps(0, 2, 2) == Positions{0, 1, 3, 4});
  CHECK(encoding.steps(0, 0) == Positions{1});
  CHECK(encoding.steps(1, 2) == Positions{1, 4});  // tile 4, position 3, occurs nowhere
  CHECK(encoding.steps(1, 3) == Positions{2, 4});  // from there both sides are one step away
  CHECK(encoding.steps(2, 1) == Positions{0});
  CHECK(encoding.steps(3, 1) == Positions{0, 2});
  CHECK(encoding.steps(4, 0) == Positions{1, 2, 5});  // orders one swap from 0 1 2
}

TEST_CASE("Encoding: neighbours are valid and one step away") {
  const Space space = example();
  const Encoding encoding(space);
  Rng rng(3);
  for (int i = 0; i < 50; ++i) {
    const Config config = space.sample(rng);
    std::size_t expected = 0;
    for (std::size_t t = 0; t < space.size(); ++t) {
      for (const std::uint32_t at : encoding.steps(t, config.indices[t], 2)) {
        Config next = config;
        next.indices[t] = at;
        expected += space.contains(next) ? 1 : 0;
      }
    }
    const std::vector<Config> found = encoding.neighbours(config, 2);
    CHECK(found.size() == expected);
    for (const Config& next : found) CHECK(space.contains(next));
  }
}

TEST_CASE("Encoding: differential mutation follows the sign of b - c") {
  const Encoding encoding(example());
  Rng rng(1);
  CHECK(encoding.mutate(0, 2, 4, 1, rng) == 3);
  CHECK(encoding.mutate(0, 2, 1, 4, rng) == 1);
  CHECK(encoding.mutate(0, 4, 3, 1, rng) == 4);  // clamped
  CHECK(encoding.mutate(0, 2, 3, 3, rng) == 2);
  CHECK(encoding.mutate(1, 2, 5, 0, rng) == 4);  // over the unusable tile 4
  CHECK(encoding.mutate(6, 1, 0, 2, rng) == 0);  // listed downward: 9 is above 6
  CHECK(encoding.mutate(2, 0, 1, 0, rng) == 1);
  CHECK(encoding.mutate(2, 0, 1, 1, rng) == 0);
  CHECK(encoding.mutate(3, 0, 0, 2, rng) == 2);
  CHECK(encoding.mutate(3, 0, 1, 0, rng) == 1);
  const std::uint32_t either = encoding.mutate(3, 0, 1, 2, rng);
  CHECK((either == 1 || either == 2));
  CHECK(encoding.mutate(4, 3, 2, 2, rng) == 3);
  CHECK(encoding.mutate(4, 3, 2, 1, rng) < 6);
}
