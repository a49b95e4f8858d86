// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/generator/any_generator.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace kernelsearch;

namespace {

struct Doubles {
  using Candidate = int;
  int calls = 0;
  Generation<int> generate(const int& proposal, const History<int>&) {
    ++calls;
    if (proposal < 0) return Generation<int>::none("negative, call " + std::to_string(calls));
    return Generation<int>::one(2 * proposal);
  }
};

}  // namespace

TEST_CASE("AnyGenerator: gives what the generator inside gives, which keeps its state when moved") {
  using Any = AnyGenerator<int, int>;
  static_assert(GeneratorOf<Any, int>);
  Any any = Doubles{};
  const TrialLog<int> log;
  const History<int> history(log, 0);
  CHECK(any.generate(4, history).candidates == std::vector<int>{8});
  Any moved = std::move(any);
  CHECK(moved.generate(-1, history).failure == "negative, call 2");
  CHECK(moved.generate(-1, history).candidates.empty());
}
