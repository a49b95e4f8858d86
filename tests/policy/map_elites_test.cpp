// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/map_elites.hpp"

#include <doctest/doctest.h>

#include "support/move_policy_contract.hpp"

using namespace kernelsearch;
using namespace move_policy_contract;

namespace {
const auto make = [](std::vector<std::string> strategies, std::uint64_t seed) {
  return MapElites({.strategies = std::move(strategies), .seed = seed});
};
}

TEST_CASE("MapElites: keeps the contract of policies over moves") {
  static_assert(SearchPolicy<MapElites>);
  check(make);
}
