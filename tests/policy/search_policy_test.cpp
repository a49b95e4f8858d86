// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/search_policy.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "kernelsearch/optimizer/optimizer.hpp"
#include "support/scripted.hpp"

using namespace kernelsearch;

namespace {

/// The least that is a SearchPolicy: movable, not even copyable or default constructible.
class Archetype {
 public:
  struct Proposal {
    int x;
  };
  explicit Archetype(int proposals) : left_(std::make_unique<int>(proposals)) {}
  std::vector<Proposal> ask(std::size_t) {
    if (*left_ == 0) return {};
    return {Proposal{(*left_)--}};
  }
  void tell(std::span<const Observation<Proposal>> batch) { told += batch.size(); }
  std::size_t told = 0;

 private:
  std::unique_ptr<int> left_;
};
static_assert(SearchPolicy<Archetype>);
static_assert(!AwaitingPolicy<Archetype>);

/// The least that is an AwaitingPolicy: its first answer comes only after it was waited for.
struct Awaiting {
  using Proposal = int;
  int awaited = 0;
  bool answered = false;
  std::vector<int> ask(std::size_t) {
    if (awaited != 1 || answered) return {};
    answered = true;
    return {7};
  }
  void tell(std::span<const Observation<int>>) {}
  bool await() { return ++awaited == 1; }
};
static_assert(AwaitingPolicy<Awaiting>);

struct FromArchetype {
  using Candidate = int;
  Generation<int> generate(const Archetype::Proposal& p, const History<int>&) {
    return Generation<int>::one(p.x);
  }
};

// What must not be taken for a policy; the messages are tested in tests/compile_fail.
struct TellsOutcomes : Awaiting {
  void tell(std::span<const Outcome>) {}
};
static_assert(!SearchPolicy<TellsOutcomes>);
struct Fixed : Archetype {
  Fixed(Fixed&&) = delete;
};
static_assert(!SearchPolicy<Fixed>);

}  // namespace

TEST_CASE("SearchPolicy: the archetype runs through the loop and hears of each trial") {
  Optimizer search{Archetype{3}, FromArchetype{}, scripted::Landscape{}};
  CHECK(search.run().trials == 3);
  CHECK(search.policy().told == 3);
}

TEST_CASE("AwaitingPolicy: an empty ask is waited for, and the end comes when waiting says so") {
  for (const std::size_t in_flight : {1, 4}) {
    Optimizer search{Awaiting{}, scripted::Copying{}, scripted::Landscape{}, {.in_flight = in_flight}};
    CHECK(search.run().trials == 1);
    CHECK(search.policy().awaited == 2);
  }
}
