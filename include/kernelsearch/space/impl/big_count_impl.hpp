// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>

#include "kernelsearch/space/big_count.hpp"

namespace kernelsearch {

namespace detail {
__extension__ using Wide = unsigned __int128;
}

KERNELSEARCH_INLINE double BigCount::to_double() const noexcept {
  double value = 0;
  for (std::size_t i = limbs_.size(); i-- > 0;) value = value * 0x1p64 + static_cast<double>(limbs_[i]);
  return value;
}

KERNELSEARCH_INLINE std::string BigCount::to_string() const {
  if (is_zero()) return "0";
  constexpr std::uint64_t chunk = 10'000'000'000'000'000'000ULL;  // 10^19
  std::string digits;
  for (BigCount rest = *this; !rest.is_zero();) {
    auto [quotient, low] = divide(rest, chunk);
    std::string part = std::to_string(low.low());
    if (!quotient.is_zero()) part.insert(0, 19 - part.size(), '0');
    digits.insert(0, part);
    rest = std::move(quotient);
  }
  return digits;
}

KERNELSEARCH_INLINE BigCount& BigCount::operator+=(const BigCount& other) {
  if (limbs_.size() < other.limbs_.size()) limbs_.resize(other.limbs_.size(), 0);
  bool carry = false;
  for (std::size_t i = 0; i < limbs_.size() && (carry || i < other.limbs_.size()); ++i) {
    const std::uint64_t add = i < other.limbs_.size() ? other.limbs_[i] : 0;
    const std::uint64_t sum = limbs_[i] + add;
    const std::uint64_t total = sum + (carry ? 1 : 0);
    carry = sum < add || total < sum;
    limbs_[i] = total;
  }
  if (carry) limbs_.push_back(1);
  return *this;
}

KERNELSEARCH_INLINE BigCount& BigCount::operator-=(const BigCount& other) {
  bool borrow = false;
  for (std::size_t i = 0; i < limbs_.size() && (borrow || i < other.limbs_.size()); ++i) {
    const std::uint64_t take = i < other.limbs_.size() ? other.limbs_[i] : 0;
    const std::uint64_t before = limbs_[i];
    limbs_[i] = before - take - (borrow ? 1 : 0);
    borrow = before < take || (borrow && before == take);
  }
  trim();
  return *this;
}

KERNELSEARCH_INLINE BigCount& BigCount::operator*=(const BigCount& other) {
  if (is_zero() || other.is_zero()) {
    limbs_.clear();
    return *this;
  }
  std::vector<std::uint64_t> product(limbs_.size() + other.limbs_.size(), 0);
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < other.limbs_.size(); ++j) {
      const detail::Wide sum =
          static_cast<detail::Wide>(limbs_[i]) * other.limbs_[j] + product[i + j] + carry;
      product[i + j] = static_cast<std::uint64_t>(sum);
      carry = static_cast<std::uint64_t>(sum >> 64);
    }
    product[i + other.limbs_.size()] += carry;
  }
  limbs_ = std::move(product);
  trim();
  return *this;
}

KERNELSEARCH_INLINE std::strong_ordering operator<=>(const BigCount& a, const BigCount& b) noexcept {
  if (a.limbs_.size() != b.limbs_.size()) return a.limbs_.size() <=> b.limbs_.size();
  for (std::size_t i = a.limbs_.size(); i-- > 0;) {
    if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] <=> b.limbs_[i];
  }
  return std::strong_ordering::equal;
}

KERNELSEARCH_INLINE std::pair<BigCount, BigCount> BigCount::divide(const BigCount& value,
                                                                   const BigCount& divisor) {
  BigCount quotient, rest;
  quotient.limbs_.assign(value.limbs_.size(), 0);
  if (divisor.fits_u64()) {
    std::uint64_t low = 0;
    for (std::size_t i = value.limbs_.size(); i-- > 0;) {
      const detail::Wide part = (static_cast<detail::Wide>(low) << 64) | value.limbs_[i];
      quotient.limbs_[i] = static_cast<std::uint64_t>(part / divisor.low());
      low = static_cast<std::uint64_t>(part % divisor.low());
    }
    rest = low;
  } else {  // bit by bit: only spaces with a component beyond 2^64 come here
    for (std::size_t bit = value.limbs_.size() * 64; bit-- > 0;) {
      rest += BigCount(rest);
      if (((value.limbs_[bit / 64] >> (bit % 64)) & 1) != 0) rest += 1;
      if (rest >= divisor) {
        rest -= divisor;
        quotient.limbs_[bit / 64] |= std::uint64_t{1} << (bit % 64);
      }
    }
  }
  quotient.trim();
  return {std::move(quotient), std::move(rest)};
}

KERNELSEARCH_INLINE BigCount BigCount::draw_below(Rng& rng, const BigCount& bound) {
  if (bound.fits_u64()) return rng.below(bound.low());
  const int spare = __builtin_clzll(bound.limbs_.back());
  for (;;) {  // at most two draws on average: the top limb is masked to the bound's width
    BigCount draw;
    draw.limbs_.resize(bound.limbs_.size());
    for (std::uint64_t& limb : draw.limbs_) limb = rng();
    draw.limbs_.back() >>= spare;
    draw.trim();
    if (draw < bound) return draw;
  }
}

}  // namespace kernelsearch
