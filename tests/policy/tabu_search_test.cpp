// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/tabu_search.hpp"

#include <doctest/doctest.h>

#include "support/policy_contract.hpp"

using namespace kernelsearch;
using namespace policy_contract;

namespace {
const auto make = [](const Space& space, std::uint64_t seed) {
  return TabuSearch(space, {.seed = seed});
};
}

TEST_CASE("TabuSearch: keeps the contract of policies over spaces") {
  check(make);
}
