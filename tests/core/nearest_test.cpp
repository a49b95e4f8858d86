// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/nearest.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using kernelsearch::nearest_name;

TEST_CASE("nearest_name: finds misspellings, swaps and wrong case, and nothing far off") {
  const std::vector<std::string> names{"block_size_x", "block_size_y", "tile"};
  CHECK(nearest_name("block_sze_x", names) == "block_size_x");
  CHECK(nearest_name("block_size_yy", names) == "block_size_y");
  CHECK(nearest_name("tlie", names) == "tile");
  CHECK(nearest_name("TILE", names) == "tile");
  CHECK(nearest_name("BLOCK_SIZE_Y", names) == "block_size_y");
  CHECK(nearest_name("shared_memory", names).empty());
  CHECK(nearest_name("", names).empty());
  CHECK(nearest_name("tile", {}).empty());
}
