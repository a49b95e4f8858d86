// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/space/config.hpp"

#include <doctest/doctest.h>

#include <unordered_set>

using kernelsearch::Config;

TEST_CASE("Config: equal ones hash alike, order is lexicographic") {
  CHECK(Config{{1, 2}} == Config{{1, 2}});
  CHECK(Config{{1, 2}} < Config{{1, 3}});
  std::unordered_set<Config> seen;
  for (std::uint32_t a = 0; a < 30; ++a) {
    for (std::uint32_t b = 0; b < 30; ++b) seen.insert(Config{{a, b}});
  }
  CHECK(seen.size() == 900);
  CHECK(seen.count(Config{{29, 29}}) == 1);
}
