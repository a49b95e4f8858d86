// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "kernelsearch/core/rng.hpp"

namespace kernelsearch {

/// A random order of 0..size-1 that needs no memory: `order[i]` is the i-th of it, each value once. A
/// four-round Feistel network on the smallest even number of bits, walked until it lands inside the range
/// (Black and Rogaway, 2002), which takes under four steps on average.
class RandomOrder {
 public:
  RandomOrder(std::uint64_t size, Rng& rng) : size_(size) {
    const int bits = size <= 1 ? 2 : 64 - std::countl_zero(size - 1);
    half_bits_ = (bits + 1) / 2;
    mask_ = (std::uint64_t{1} << half_bits_) - 1;
    for (auto& key : keys_) key = rng();
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// The value at place `i`, `i < size()`.
  [[nodiscard]] std::uint64_t operator[](std::uint64_t i) const noexcept {
    do i = permute(i);
    while (i >= size_);
    return i;
  }

 private:
  [[nodiscard]] std::uint64_t permute(std::uint64_t x) const noexcept {
    std::uint64_t left = x >> half_bits_, right = x & mask_;
    for (const std::uint64_t key : keys_) {
      std::uint64_t mixed = (right + key) * 0x9e3779b97f4a7c15ULL;
      mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9ULL;
      const std::uint64_t next = left ^ ((mixed >> 32) & mask_);
      left = right;
      right = next;
    }
    return (left << half_bits_) | right;
  }

  std::uint64_t size_;
  int half_bits_ = 1;
  std::uint64_t mask_ = 1;
  std::array<std::uint64_t, 4> keys_{};
};

}  // namespace kernelsearch
