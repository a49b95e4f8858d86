// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/stretches.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kernelsearch::detail {
namespace {

// Shorter arrays are one or two stretches: parameters take as long to draw as some dozens of elements.
constexpr std::size_t shortest = 512, least = 16;

/// Whether both signs may be drawn. Then parts lie around 0: long rows of one sign here and of the other
/// there would cancel in sums far beyond what the declared draw does, and honest kernels round.
bool mixed(const DeclaredRange& declared) {
  return declared.zero && *declared.zero > 0 && *declared.zero < 1;
}

float uniform(Rng& rng, double from, double to) {
  return static_cast<float>(from + (to - from) * rng.uniform());
}

/// A part of `whole` of half its width at least: a narrower one far from 0 makes differences of its elements
/// small beside their magnitudes, which kernels that compute a variance in one pass do not bear.
RankRange half_at_least(const RankRange& whole, Rng& rng) {
  const float all = whole.to - whole.from, width = all * uniform(rng, 0.5, 1);
  const float from = whole.from + (all - width) * static_cast<float>(rng.uniform());
  return {from, from + width};
}

/// `whole` shrunk towards `anchor`.
RankRange shrunk(const RankRange& whole, double anchor, float scale) {
  const auto at = static_cast<float>(std::clamp(anchor, double{whole.from}, double{whole.to}));
  return {at + (whole.from - at) * scale, at + (whole.to - at) * scale};
}

float scale(Rng& rng) {
  return std::exp2(-uniform(rng, 0.5, 3));
}

}  // namespace

DeclaredRange declared_range(const Argument& argument) {
  DeclaredRange declared;
  declared.varies = argument.exact.empty() && is_drawn(argument.initialisation) &&
                    argument.initialisation != Initialisation::ill_conditioned;
  if (argument.initialisation == Initialisation::sorted) declared.varies = argument.exact.empty();
  if (argument.structure) return declared;
  if (argument.type == ElementType::boolean) {
    declared.zero = 0;
  } else if (argument.initialisation == Initialisation::normal) {
    // Of a mean beyond the deviation the sign may be what the kernel counts on.
    if (argument.high > 0 && std::abs(argument.low) <= argument.high)
      declared.zero = 0.5 * std::erfc(argument.low / argument.high / std::sqrt(2.0));
  } else if (argument.low <= 0 && argument.high > 0) {
    declared.zero = -argument.low / (argument.high - argument.low);
  }
  return declared;
}

RankRange drawn_ranks(const DeclaredRange& declared, Rng& rng) {
  const RankRange all;
  if (!declared.varies) return all;
  const std::uint64_t kind = rng.below(4);
  if (kind == 3) return all;
  if (mixed(declared) && kind < 2) {  // one sign more than the other, or alone
    const float zero = static_cast<float>(*declared.zero), rest = std::max(0.0f, uniform(rng, -0.5, 1));
    return rng.below(2) == 0 ? RankRange{zero - zero * rest, 1} : RankRange{0, zero + (1 - zero) * rest};
  }
  const bool towards = declared.zero && (kind == 2 || mixed(declared));
  return towards ? shrunk(all, *declared.zero, uniform(rng, 0.25, 1)) : half_at_least(all, rng);
}

Argument narrowed(Argument argument, const RankRange& ranks) {
  const auto part = [&ranks](double& low, double& high, bool whole) {
    const double span = high - low, from = low + span * double{ranks.from},
                 to = low + span * double{ranks.to};
    // A whole number that was in the range stays there.
    const double begin = whole ? std::floor(from) : from,
                 end = whole ? std::max(std::ceil(to), begin + 1) : to;
    if (!std::isfinite(span) || !(begin < end)) return;
    low = std::max(low, begin);
    high = std::min(high, end);
  };
  if (argument.initialisation == Initialisation::normal) return argument;
  if (argument.structure)
    for (StructField& field : argument.structure->fields)
      part(field.low, field.high, !is_floating(field.type));
  else
    part(argument.low, argument.high, !is_floating(argument.type));
  return argument;
}

Stretches::Stretches(const DeclaredRange& declared, std::size_t count, Rng& rng)
    : declared_(declared), left_(count) {
  if (!declared.varies) {
    length_ = count;
    return;
  }
  whole_ = drawn_ranks(declared, rng);
  if (count < 2 * shortest) {
    length_ = std::max(least, count / 2 + 1);
  } else {
    const int width = static_cast<int>(std::bit_width(count / shortest));
    length_ = shortest << rng.below(static_cast<std::uint64_t>(width));
  }
  first_ = 1 + static_cast<std::size_t>(rng.below(length_));
}

void Stretches::make(Stretch& stretch, Rng& rng) const {
  const double around = declared_.zero.value_or(0);
  const auto narrow = [&] {
    return declared_.zero ? shrunk(whole_, around, scale(rng)) : half_at_least(whole_, rng);
  };
  RankRange ranks = whole_;
  const std::uint64_t kind = rng.below(8);  // 0 and 1: as the array
  if (kind == 2 || kind == 3 || kind == 6) ranks = narrow();
  if (kind == 4) ranks = mixed(declared_) ? narrow() : half_at_least(whole_, rng);
  stretch.ranks.fill(ranks);
  if (kind == 5) {  // with a period of 2, 4 or 8
    const std::size_t period = std::size_t{2} << rng.below(3), full = rng.below(period);
    const RankRange other = narrow();
    for (std::size_t i = 0; i < Stretch::lanes; ++i)
      if (i % period != full) stretch.ranks[i] = other;
  }
  if (kind >= 6 && declared_.zero) stretch.zeros = static_cast<std::uint32_t>(64 + rng.below(177));
}

const Stretch& Stretches::next(Rng& rng) {
  if (!declared_.varies) {
    ways_[0].count = left_;
    left_ = 0;
    return ways_[0];
  }
  const std::uint64_t random = rng();
  const std::size_t way = random % kinds;
  Stretch& stretch = ways_[way];
  if ((made_ >> way & 1u) == 0) {
    make(stretch, rng);
    made_ |= 1u << way;
  }
  stretch.count = std::min(left_, first_ != 0 ? first_ : length_);
  stretch.outliers = static_cast<std::uint32_t>(random >> 32 & 3u) % 3;
  first_ = 0;
  left_ -= stretch.count;
  return stretch;
}

}  // namespace kernelsearch::detail
