// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/generator/generator.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/move.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "support/scripted.hpp"

using namespace kernelsearch;

namespace {

/// The least that is a generator from `int`: its candidate can be copied and nothing more.
struct Text {
  explicit Text(int n) : value(n) {}
  int value;
};
struct Archetype {
  using Candidate = Text;
  Generation<Text> generate(const int& proposal, const History<Text>& history) {
    return Generation<Text>::one(Text{proposal + static_cast<int>(history.size())});
  }
};
static_assert(GeneratorOf<Archetype, int>);
static_assert(!GeneratorOf<Archetype, Move>);

struct KeepsProposal : Archetype {
  Generation<Text> generate(int& proposal, const History<Text>&) {
    return Generation<Text>::one(Text{proposal});
  }
};
static_assert(!GeneratorOf<KeepsProposal, int>);

struct Add {
  Evaluation evaluate(const Text& text, const EvaluationContext&) {
    return Evaluation::succeeded(text.value + 1.0);
  }
};

}  // namespace

TEST_CASE("GeneratorOf: the archetype runs through the loop with the history of earlier trials") {
  Optimizer search{scripted::Counting{.last = 3}, Archetype{}, Add{}};
  search.run();
  REQUIRE(search.trials().size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(search.trials()[i].candidate->value == static_cast<int>(2 * i));
}

TEST_CASE("Generation: one candidate, or none with the reason") {
  const auto one = Generation<int>::one(5);
  CHECK(one.candidates == std::vector<int>{5});
  CHECK(one.failure.empty());
  const auto none = Generation<int>::none("prose instead of code");
  CHECK(none.candidates.empty());
  CHECK(none.failure == "prose instead of code");
}
