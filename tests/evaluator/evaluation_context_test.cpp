// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/evaluation_context.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using namespace kernelsearch;

TEST_CASE("TrialBudget: gives exactly what it has, to any number of threads") {
  TrialBudget budget(1000);
  std::atomic<int> taken{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        while (budget.take()) ++taken;
      });
  }
  CHECK(taken == 1000);
  CHECK(budget.remaining() == 0);
  CHECK_FALSE(budget.take());
}

TEST_CASE("TrialBudget: a nested one draws from its parent too and has no more than it") {
  const auto outer = std::make_shared<TrialBudget>(3);
  TrialBudget inner(5, outer);
  CHECK(inner.remaining() == 3);
  for (int i = 0; i < 3; ++i) CHECK(inner.take());
  CHECK(outer->remaining() == 0);
  CHECK_FALSE(inner.take());
  TrialBudget small(1, std::make_shared<TrialBudget>(10));
  CHECK(small.take());
  CHECK_FALSE(small.take());
  CHECK(inner.remaining() == 0);
}

TEST_CASE("TrialBudget: unlimited stays so, and a refusing parent leaves the own count alone") {
  TrialBudget unlimited;
  CHECK(unlimited.take());
  CHECK(unlimited.remaining() == TrialBudget::unlimited);
  TrialBudget nested(TrialBudget::unlimited, std::make_shared<TrialBudget>(1));
  CHECK(nested.take());
  CHECK_FALSE(nested.take());
  CHECK(nested.remaining() == 0);
}
