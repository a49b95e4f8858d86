// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/outcome.hpp"

namespace kernelsearch {

/// Decides what to try next, from outcomes alone.
///
/// 1. `P::Proposal` is what it proposes: a `Config`, a `Move`, or any copyable type that the generator takes.
/// 2. `policy.ask(n)` returns at most `n` proposals, `n >= 1`. It may be called while earlier proposals are
///    outstanding and never repeats one of those. Fewer than `n`, or none, means "not now"; none while
///    nothing is outstanding ends the search. The k-th proposal ever returned has ProposalId k.
/// 3. `policy.tell(batch)` reports what became of candidates, in any order, also of ones from outside that it
///    never proposed (`outcome.origin` empty) and of known ids again (the new outcome replaces the old).
/// 4. It is movable. It owns its random stream: same options, same calls, same proposals.
///
/// Archetypes: tests/policy/search_policy_test.cpp and tests/compile_fail/. See docs/extending.md#policy.
template <class P>
concept SearchPolicy = std::movable<P> && std::copyable<typename P::Proposal> &&
    requires(P& policy, std::size_t n, std::span<const Observation<typename P::Proposal>> batch) {
  { policy.ask(n) } -> std::same_as<std::vector<typename P::Proposal>>;
  policy.tell(batch);
};

/// A policy with work of its own in progress, such as a question to a model: `policy.await()` blocks until
/// another ask may return proposals and is true then; false when none will come. The loop calls it when an
/// ask was empty and nothing is outstanding, so that waiting is not mistaken for the end.
template <class P>
concept AwaitingPolicy = SearchPolicy<P> && requires(P& policy) {
  { policy.await() } -> std::same_as<bool>;
};

}  // namespace kernelsearch
