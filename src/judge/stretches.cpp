// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/stretches.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kernelsearch::detail {
namespace {

// To begin a stretch takes as long as some dozens of elements: short arrays are one, or one and a half on an
// average, and only longer stretches have outliers.
constexpr std::size_t shortest = 1024, whole_below = 256;
// Stretches begin at multiples of this: vectors that are stored across two lines take longer.
constexpr std::size_t together = 64;

/// Whether both signs may be drawn. Then parts lie around 0: long rows of one sign here and of the other
/// there would cancel in sums far beyond what the declared draw does, and honest kernels round.
bool mixed(const DeclaredRange& declared) {
  return declared.zero && *declared.zero > 0 && *declared.zero < 1;
}

float uniform(Rng& rng, double from, double to) {
  return static_cast<float>(from + (to - from) * rng.uniform());
}

/// A part of `whole` of half its width at least: a narrower one far from 0 makes differences of its elements
/// small next to their magnitudes, which kernels that compute a variance in one pass do not bear.
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
    // For a mean beyond the deviation the sign may be what the kernel counts on.
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

namespace {

Stretch some_stretch(const DeclaredRange& declared, const RankRange& whole, Rng& rng) {
  const auto narrow = [&] {
    return declared.zero ? shrunk(whole, *declared.zero, scale(rng)) : half_at_least(whole, rng);
  };
  Stretch stretch;
  RankRange ranks = whole;
  const std::uint64_t kind = rng.below(8);  // 0 and 1: as the array
  if (kind == 2 || kind == 3 || kind == 6) ranks = narrow();
  if (kind == 4) ranks = mixed(declared) ? narrow() : half_at_least(whole, rng);
  stretch.ranks.fill(ranks);
  if (kind == 5) {  // with a period of 2, 4 or 8
    const std::size_t period = std::size_t{2} << rng.below(3), full = rng.below(period);
    const RankRange other = narrow();
    for (std::size_t i = 0; i < Stretch::lanes; ++i)
      if (i % period != full) stretch.ranks[i] = other;
    stretch.periodic = true;
  }
  if (kind >= 6 && declared.zero) stretch.zeros = static_cast<std::uint32_t>(64 + rng.below(177));
  return stretch;
}

}  // namespace

Spread::Spread(const DeclaredRange& declared, Rng& rng) {
  constexpr std::size_t kept = 64;
  if (!declared.varies) return;
  parameters_.resize(kept);
  for (Parameters& one : parameters_) {
    one.whole = drawn_ranks(declared, rng);
    for (Stretch& stretch : one.stretches) stretch = some_stretch(declared, one.whole, rng);
  }
}

Stretches::Stretches(const Spread& spread, std::size_t count, Rng& rng) : left_(count), length_(count) {
  if (!spread.varies()) return;
  parameters_ = &spread.some(rng);
  if (count < whole_below) return;
  if (count < 2 * shortest) {
    length_ = (count / 2 / together + 1) * together;
  } else {
    const int width = static_cast<int>(std::bit_width(count / shortest));
    length_ = shortest << rng.below(static_cast<std::uint64_t>(width));
  }
  first_ = (1 + static_cast<std::size_t>(rng.below(length_ / together))) * together;
}

const Stretch& Stretches::next(Rng& rng) {
  if (parameters_ != nullptr && left_ != 0) {
    const std::uint64_t random = rng();
    stretch_ = parameters_->stretches[random % Spread::ways];
    stretch_.outliers = static_cast<std::uint32_t>(random >> 32 & 3u) % 3;
  }
  stretch_.count = std::min(left_, first_ != 0 ? first_ : length_);
  if (stretch_.count < whole_below) stretch_.outliers = 0;
  first_ = 0;
  left_ -= stretch_.count;
  return stretch_;
}

}  // namespace kernelsearch::detail
