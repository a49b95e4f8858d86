// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/best_of_k.hpp"

#include <doctest/doctest.h>

#include "support/move_policy_contract.hpp"

using namespace kernelsearch;
using namespace move_policy_contract;

namespace {
const auto make = [](std::vector<std::string> strategies, std::uint64_t seed) {
  return BestOfK({.strategies = std::move(strategies), .seed = seed, .k = 12, .climb = true});
};
}

TEST_CASE("BestOfK: keeps the contract of policies over moves") {
  static_assert(SearchPolicy<BestOfK>);
  check(make);
}
