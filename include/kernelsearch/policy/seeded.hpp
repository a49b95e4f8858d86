// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "kernelsearch/policy/search_policy.hpp"

namespace kernelsearch {

/// Runs policy `A` to its end, then `B`, which is told all that `A` found, as trials of others. Helion's
/// hybrid is this with a language model's search in front of LFBO.
template <SearchPolicy A, SearchPolicy B>
requires std::same_as<typename A::Proposal, typename B::Proposal>
class Seeded {
 public:
  using Proposal = typename A::Proposal;

  Seeded(A first, B second) : first_(std::move(first)), second_(std::move(second)) {}

  std::vector<Proposal> ask(std::size_t n) {
    if (!first_done_) {
      std::vector<Proposal> proposals = first_.ask(n);
      asked_first_ += proposals.size();
      // An empty ask of a policy that waits for its own model is not its end: the loop calls await() then.
      if (!proposals.empty() || told_first_ < asked_first_ || AwaitingPolicy<A>) return proposals;
      first_done_ = true;
    }
    return second_.ask(n);
  }

  void tell(std::span<const Observation<Proposal>> batch) {
    for (const Observation<Proposal>& observation : batch) {
      const auto& origin = observation.outcome.origin;
      const bool of_first = origin && number(origin->proposal) < asked_first_;
      Observation<Proposal> theirs = observation;
      if (of_first) {
        const std::uint32_t count = origin->count == 0 ? 1 : origin->count;
        if (known_.insert({number(origin->proposal), origin->index}).second &&
            ++parts_[number(origin->proposal)] == count)
          ++told_first_;
        first_.tell(std::span(&observation, 1));
        theirs.outcome.origin.reset();
      } else if (origin) {
        // To B its own proposals count from 0, as if A had not been there.
        theirs.outcome.origin->proposal = ProposalId{number(origin->proposal) - asked_first_};
        if (!first_done_) first_.tell(std::span(&observation, 1));
      } else if (!first_done_) {
        first_.tell(std::span(&observation, 1));
      }
      second_.tell(std::span<const Observation<Proposal>>(&theirs, 1));
    }
  }

  bool await() requires AwaitingPolicy<A> || AwaitingPolicy<B> {
    if constexpr (AwaitingPolicy<A>)
      if (!first_done_) {
        first_done_ = !first_.await();
        return true;  // either A has more, or B has not been asked yet
      }
    if constexpr (AwaitingPolicy<B>) return second_.await();
    return false;
  }

  [[nodiscard]] A& first() noexcept { return first_; }
  [[nodiscard]] B& second() noexcept { return second_; }

 private:
  A first_;
  B second_;
  bool first_done_ = false;
  std::size_t asked_first_ = 0;
  std::size_t told_first_ = 0;
  std::set<std::pair<std::uint64_t, std::uint32_t>> known_;
  std::map<std::uint64_t, std::uint32_t> parts_;
};

}  // namespace kernelsearch
