// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/batches.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernelsearch/core/rng.hpp"

namespace kernelsearch::detail {
namespace {

// Seconds of a batch of several calls: over a hundred times what stopping and resuming the worker takes,
// which is also subtracted.
constexpr double batch_seconds = 0.001;
// Short calls are made in batches that a second-level cache holds, which are shorter, though no shorter than
// this.
constexpr double short_batch_seconds = 100e-6;
// The same for short calls by several threads, which are timed by wall time.
constexpr double threads_batch_seconds = 0.001;
// Filled slots for each call of a batch, where the caches hold them; and what a batch of fewer calls lasts at
// least: what the clock takes can be taken off to 0.1 to 0.3 us.
constexpr double decoys = 4;
constexpr double least_batch_seconds = 50e-6;
// What the problem's generator may take to fill one batch.
constexpr double generating_batch = 0.002;

}  // namespace

std::size_t whole(double wanted, std::size_t most) {
  return static_cast<std::size_t>(
      std::clamp(wanted, 1.0, static_cast<double>(std::max<std::size_t>(most, 1))));
}

double held_calls(const Slots& slots) {
  return static_cast<double>(warm_bytes / slots.slot_bytes());
}

double wanted_slots(const Slots& slots, double estimate, CacheMode cache, int threads) {
  const double each = std::max(estimate, 1e-9);
  if (each >= short_call) return 1;
  if (threads > 1) return decoys * std::ceil(threads_batch_seconds / each);
  const double wanted = std::ceil(batch_seconds / each);
  if (cache != CacheMode::warm) return wanted;
  return std::min(wanted, std::max(held_calls(slots), std::ceil(short_batch_seconds / each)));
}

Batch batch_of(const Slots& slots, double estimate, CacheMode cache, int threads, const FreshInputs& fresh) {
  Batch batch;
  batch.filled = std::min(whole(wanted_slots(slots, estimate, cache, threads), slots.count()),
                          std::max<std::size_t>(fresh.calls_filled_in(generating_batch), 1));
  if (batch.filled == 1) return batch;
  // The others belong to other batches, and nobody can tell which these are. A kernel that does several at
  // once, of those that it sees, does most of them in vain.
  const double fewest = std::ceil(least_batch_seconds / std::max(estimate, 1e-9));
  batch.calls = whole(std::max(static_cast<double>(batch.filled) / decoys, fewest), batch.filled);
  return batch;
}

std::size_t filled_batches(const FreshInputs& fresh, std::size_t filled, std::size_t most) {
  return std::clamp<std::size_t>(fresh.calls_filled_in(generating_round) / filled, 1, most);
}

std::vector<std::uint32_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  Rng(seed).shuffle(order);
  return order;
}

std::vector<std::uint64_t> secret_seeds(std::size_t count) {
  std::vector<std::uint64_t> seeds(count);
  fill_secret(std::as_writable_bytes(std::span(seeds)));
  return seeds;
}

void fill_slots(Slots& slots, std::size_t filled, std::size_t known, const Contents& contents,
                const FreshInputs& fresh, CacheMode cache, std::span<const std::uint64_t> seeds) {
  for (std::size_t slot = 0; slot < filled; ++slot)
    if (slot == known)
      slots.fill(slot, contents, seeds[2 * slot]);
    else
      slots.fill(slot, contents, seeds[2 * slot], fresh, seeds[2 * slot + 1]);
  if (cache == CacheMode::cold)
    for (std::size_t slot = 0; slot < filled; ++slot) slots.flush(slot);
}

void fill_slots(Slots& slots, std::size_t filled, std::size_t known, const Contents& contents,
                const FreshInputs& fresh, CacheMode cache) {
  fill_slots(slots, filled, known, contents, fresh, cache, secret_seeds(2 * filled));
}

void fill_batch(Slots& slots, std::size_t calls, const Contents& contents, const FreshInputs& fresh,
                CacheMode cache, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::uint64_t> seeds(2 * calls);
  for (std::uint64_t& each : seeds) each = rng();
  fill_slots(slots, calls, calls, contents, fresh, cache, seeds);
  slots.order(shuffled(calls, rng()));
}

double per_call(double charged, double overhead, std::size_t calls) {
  return std::max(charged - overhead, 0.01 * charged) / static_cast<double>(calls);
}

}  // namespace kernelsearch::detail
