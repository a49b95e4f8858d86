// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/rng.hpp"

namespace kernelsearch {

/// A natural number of any size: how many configurations there are, or the rank of one.
class BigCount {
 public:
  BigCount() = default;
  BigCount(std::uint64_t value) {  // NOLINT: a plain count is a count
    if (value != 0) limbs_.push_back(value);
  }

  [[nodiscard]] bool is_zero() const noexcept { return limbs_.empty(); }
  [[nodiscard]] bool fits_u64() const noexcept { return limbs_.size() <= 1; }
  /// The lowest 64 bits: the number itself where `fits_u64()`.
  [[nodiscard]] std::uint64_t low() const noexcept { return limbs_.empty() ? 0 : limbs_[0]; }
  /// Nearest double; infinity beyond its range.
  [[nodiscard]] double to_double() const noexcept;
  /// Decimal digits.
  [[nodiscard]] std::string to_string() const;

  BigCount& operator+=(const BigCount& other);
  /// Needs `other <= *this`.
  BigCount& operator-=(const BigCount& other);
  BigCount& operator*=(const BigCount& other);
  friend BigCount operator+(BigCount a, const BigCount& b) { return a += b; }
  friend BigCount operator-(BigCount a, const BigCount& b) { return a -= b; }
  friend BigCount operator*(BigCount a, const BigCount& b) { return a *= b; }

  /// Quotient and rest; `divisor` must not be 0.
  [[nodiscard]] static std::pair<BigCount, BigCount> divide(const BigCount& value, const BigCount& divisor);

  /// Uniform in [0, bound); `bound` must not be 0.
  [[nodiscard]] static BigCount draw_below(Rng& rng, const BigCount& bound);

  friend bool operator==(const BigCount&, const BigCount&) = default;
  friend std::strong_ordering operator<=>(const BigCount& a, const BigCount& b) noexcept;

  /// Bytes held outside the object.
  [[nodiscard]] std::size_t heap_bytes() const noexcept { return limbs_.capacity() * sizeof(std::uint64_t); }

 private:
  void trim() {
    while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  }
  std::vector<std::uint64_t> limbs_;  // least first, the last one never 0
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/space/impl/big_count_impl.hpp"
#endif
