// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "judge/arena.hpp"
#include "judge/fresh_inputs.hpp"
#include "kernelsearch/judge/host_options.hpp"

/// How timed calls of a host kernel are put together to batches, and batches to rounds.
namespace kernelsearch::detail {

/// Seconds of calls in a round, of which one is verified.
inline constexpr double round_seconds = 0.010;
/// Longer calls are a batch each: there is nothing to make them together with.
inline constexpr double short_call = 30e-6;
/// What a second-level cache holds.
inline constexpr std::size_t warm_bytes = std::size_t{512} << 10;
/// Batches of a round of short calls, at most, where the reference is cheap: a batch is over a hundred calls,
/// so twenty or thirty mostly tell the median, and rounds of 10 ms would be two or three times as many.
inline constexpr std::size_t short_batches = 12;
/// Seconds that the problem's generator may take for all batches of a round: each call gets arrays of its own
/// from it, so that there are fewer calls where it is slow, and never two on the same contents.
inline constexpr double generating_round = 0.05;

/// `wanted` as a count from 1 to `most` (at least 1).
[[nodiscard]] std::size_t whole(double wanted, std::size_t most);

/// Calls whose slots a second-level cache holds.
[[nodiscard]] double held_calls(const Slots& slots);

/// Slots that are filled for a batch of calls of `estimate` seconds where there is room for them.
[[nodiscard]] double wanted_slots(const Slots& slots, double estimate, CacheMode cache, int threads);

/// A batch: `calls` calls, each on one of the `filled` slots.
struct Batch {
  std::size_t calls = 1, filled = 1;
};

[[nodiscard]] Batch batch_of(const Slots& slots, double estimate, CacheMode cache, int threads,
                             const FreshInputs& fresh);

/// Batches that a generator fills within its time for a round, at most `most`.
[[nodiscard]] std::size_t filled_batches(const FreshInputs& fresh, std::size_t filled, std::size_t most);

[[nodiscard]] std::vector<std::uint32_t> shuffled(std::size_t count, std::uint64_t seed);

/// Seeds that nothing can be told from: not one of them, and not what a process was shown of others.
[[nodiscard]] std::vector<std::uint64_t> secret_seeds(std::size_t count);

/// Fills slots with contents of their own, `known` (if there is one) with the set as it is.
void fill_slots(Slots& slots, std::size_t filled, std::size_t known, const Contents& contents,
                const FreshInputs& fresh, CacheMode cache, std::span<const std::uint64_t> seeds);
void fill_slots(Slots& slots, std::size_t filled, std::size_t known, const Contents& contents,
                const FreshInputs& fresh, CacheMode cache);

/// The batch that `seed` makes, in its order.
void fill_batch(Slots& slots, std::size_t calls, const Contents& contents, const FreshInputs& fresh,
                CacheMode cache, std::uint64_t seed);

/// Seconds of a call without what the clock takes; what is charged is more than that but for its scatter.
[[nodiscard]] double per_call(double charged, double overhead, std::size_t calls);

}  // namespace kernelsearch::detail
