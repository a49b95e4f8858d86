// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/any_policy.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "support/policy_contract.hpp"
#include "support/scripted.hpp"

using namespace kernelsearch;

TEST_CASE("AnyPolicy: keeps the contract that the policy it holds keeps") {
  policy_contract::check([](const Space& space, std::uint64_t seed) {
    return AnyPolicy<Config>(RandomSearch(space, {.seed = seed}));
  });
}

TEST_CASE("AnyPolicy: awaits if what it holds does, and otherwise has nothing to wait for") {
  struct Patient : scripted::Counting {
    bool await() { return next < last; }
  };
  AnyPolicy<int> waiting(Patient{{.last = 1}});
  CHECK(waiting.await());
  CHECK(waiting.ask(5).size() == 1);
  CHECK_FALSE(waiting.await());
  CHECK_FALSE(AnyPolicy<int>(scripted::Counting{}).await());
}
