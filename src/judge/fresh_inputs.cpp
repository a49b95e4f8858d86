// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/fresh_inputs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "judge/lane_rng.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/problem/inputs.hpp"

namespace kernelsearch::detail {
namespace {

constexpr int bits = std::bit_width(FreshInputs::values - 1);
static_assert(std::has_single_bit(FreshInputs::values) && 4 * bits <= 64);

// One draw of the generator chooses four elements; `bytes` is known when this is compiled, or 0.
template <std::size_t bytes>
void choose(const std::byte* pool, std::size_t each, std::size_t count, Rng& rng, std::byte* out) {
  const std::size_t size = bytes != 0 ? bytes : each;
  std::uint64_t random = 0;
  for (std::size_t i = 0; i < count; ++i) {
    random = i % 4 == 0 ? rng() : random >> bits;
    std::memcpy(out + i * size, pool + (random & (FreshInputs::values - 1)) * size, size);
  }
}

/// Between a value of the pool and the next one, at random: as the pool is sorted that keeps its
/// distribution. 13 bits are for the pair and the others for the place between its two values, 19 in single
/// precision.
template <class T, class Random>
void between(const std::byte* pool, std::size_t count, std::uint64_t seed, std::byte* out) {
  constexpr std::uint64_t pairs = FreshInputs::values - 1;
  constexpr int place = 8 * sizeof(Random) - bits;
  constexpr T unit = T{1} / static_cast<T>(Random{1} << place);
  LaneRng rng(seed);
  LaneRng::Block block;
  Random random[sizeof block / sizeof(Random)];
  constexpr std::size_t drawn = std::size(random);
  for (std::size_t i = 0; i < count; i += drawn) {
    rng(block);
    std::memcpy(random, &block, sizeof block);
    const std::size_t here = std::min(drawn, count - i);
    for (std::size_t j = 0; j < here; ++j) {
      const std::uint64_t below = (static_cast<std::uint64_t>(random[j] >> place) * pairs) >> bits;
      T low, high;
      std::memcpy(&low, pool + below * sizeof(T), sizeof(T));
      std::memcpy(&high, pool + (below + 1) * sizeof(T), sizeof(T));
      const T part = static_cast<T>(random[j] & ((Random{1} << place) - 1)) * unit;
      const T value = std::min(low + (high - low) * part, high);
      std::memcpy(out + (i + j) * sizeof(T), &value, sizeof(T));
    }
  }
}

/// Evenly between the least and the greatest of the pool, to which the range has shrunk by some hundredths of
/// a per cent. Whole numbers become floating ones around the middle of the range, so that in single precision
/// small values keep all their bits: a table of the values that were met is of no use.
template <class T, class Whole>
void evenly(const std::byte* pool, std::size_t count, std::uint64_t seed, std::byte* out) {
  using Numbers [[gnu::vector_size(16)]] = T;
  using Wholes [[gnu::vector_size(16)]] = Whole;
  T low, high;
  std::memcpy(&low, pool, sizeof(T));
  std::memcpy(&high, pool + (FreshInputs::values - 1) * sizeof(T), sizeof(T));
  const T middle = low + (high - low) / 2;
  const T scale = (high - low) / static_cast<T>(std::numeric_limits<std::make_unsigned_t<Whole>>::max());
  const Numbers least = low - Numbers{}, greatest = high - Numbers{};
  LaneRng rng(seed);
  LaneRng::Block block;
  const std::size_t bytes = count * sizeof(T);
  for (std::size_t at = 0; at < bytes; at += sizeof block) {
    rng(block);
    for (LaneRng::Lanes& pair : block.pair) {
      Wholes random;
      std::memcpy(&random, &pair, sizeof pair);
      Numbers value = middle + __builtin_convertvector(random, Numbers) * scale;
      value = value < least ? least : value;  // rounding may lead past the ends
      value = value > greatest ? greatest : value;
      std::memcpy(&pair, &value, sizeof pair);
    }
    std::memcpy(out + at, &block, std::min(sizeof block, bytes - at));
  }
}

/// Whether the range of the pool, which is sorted, is one in which `evenly` can compute.
template <class T>
bool has_finite_span(const std::vector<std::byte>& pool) {
  T low, high;
  std::memcpy(&low, pool.data(), sizeof(T));
  std::memcpy(&high, pool.data() + pool.size() - sizeof(T), sizeof(T));
  return std::isfinite(high - low);
}

/// Any of the whole numbers from the least to the greatest of the pool.
template <class T>
void within(const std::byte* pool, std::size_t count, Rng& rng, std::byte* out) {
  T low, high;
  std::memcpy(&low, pool, sizeof(T));
  std::memcpy(&high, pool + (FreshInputs::values - 1) * sizeof(T), sizeof(T));
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const T value = static_cast<T>(static_cast<std::uint64_t>(low) + (span == 0 ? rng() : rng.below(span)));
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
  }
}

/// A secret order of the numbers 0 to count-1, each element for itself, where shuffling a table of them would
/// wait for memory: a Feistel network over as many bits as they need, followed until it comes to a number
/// that is one of them (Black and Rogaway, 2002). Six rounds: it is nothing but hard to tell from a shuffle
/// by looking.
template <class T>
void permute(std::size_t count, Rng& rng, std::byte* out) {
  const int width = std::max(2, static_cast<int>(std::bit_width(count - 1)));
  const int low_bits = width / 2;
  const std::uint64_t low_mask = (std::uint64_t{1} << low_bits) - 1,
                      high_mask = (std::uint64_t{1} << (width - low_bits)) - 1;
  std::uint64_t keys[6];
  for (std::uint64_t& key : keys) key = rng();
  const auto mixed = [](std::uint64_t half, std::uint64_t key) {
    const std::uint64_t product = (half ^ key) * 0x9e3779b97f4a7c15u;
    return product >> 32 ^ product >> 47;
  };
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t number = i;
    do {
      std::uint64_t low = number & low_mask, high = number >> low_bits;
      for (int round = 0; round < 6; round += 2) {
        high ^= mixed(low, keys[round]) & high_mask;
        low ^= mixed(high, keys[round + 1]) & low_mask;
      }
      number = high << low_bits | low;
    } while (number >= count);
    const T value = static_cast<T>(number);
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
  }
}

/// Ascending elements without sorting all: so many of each pair of neighbours of the pool as chance gives it,
/// and those few are sorted.
template <class T>
void ascending(const std::byte* pool, std::size_t count, Rng& rng, std::byte* out) {
  constexpr std::uint64_t pairs = FreshInputs::values - 1;
  std::vector<std::uint32_t> of_pair(pairs);
  for (std::size_t i = 0; i < count; i += 2) {
    const std::uint64_t random = rng();
    ++of_pair[(random >> 32) * pairs >> 32];
    if (i + 1 < count) ++of_pair[(random & 0xffffffffu) * pairs >> 32];
  }
  std::vector<T> within;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    T low, high;
    std::memcpy(&low, pool + pair * sizeof(T), sizeof(T));
    std::memcpy(&high, pool + (pair + 1) * sizeof(T), sizeof(T));
    within.clear();
    for (std::uint32_t k = 0; k < of_pair[pair]; ++k)
      if constexpr (std::is_floating_point_v<T>) {
        within.push_back(std::min(low + (high - low) * static_cast<T>(rng.uniform()), high));
      } else {
        __extension__ using Wide = unsigned __int128;
        const Wide span =
            static_cast<Wide>(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low)) + 1;
        within.push_back(
            static_cast<T>(static_cast<std::uint64_t>(low) + static_cast<std::uint64_t>(span * rng() >> 64)));
      }
    std::sort(within.begin(), within.end());
    if (!within.empty()) std::memcpy(out, within.data(), within.size() * sizeof(T));
    out += within.size() * sizeof(T);
  }
}

template <class T>
void sort_pool(std::vector<std::byte>& pool) {
  std::vector<T> values(FreshInputs::values);
  std::memcpy(values.data(), pool.data(), pool.size());
  std::sort(values.begin(), values.end());
  std::memcpy(pool.data(), values.data(), pool.size());
}

/// How elements of the argument are made; none for what stays as it was drawn for a check.
std::optional<FreshInputs::Way> way_of(const Argument& argument, std::size_t count) {
  using Way = FreshInputs::Way;
  if (!argument.is_array) return std::nullopt;
  const auto one_of = [&](Way f32, Way f64, Way i32, Way u32, Way i64, Way u64, std::optional<Way> other) {
    if (argument.structure) return other;
    switch (argument.type) {
      case ElementType::f32:
        return std::optional(f32);
      case ElementType::f64:
        return std::optional(f64);
      case ElementType::i32:
        return std::optional(i32);
      case ElementType::u32:
        return std::optional(u32);
      case ElementType::i64:
        return std::optional(i64);
      case ElementType::u64:
        return std::optional(u64);
      default:
        return other;
    }
  };
  const std::optional<Way> whole =
      !argument.structure && count <= FreshInputs::most_whole ? std::optional(Way::whole) : std::nullopt;
  switch (argument.initialisation) {
    case Initialisation::uniform:
      return one_of(Way::evenly_f32, Way::evenly_f64, Way::within_i32, Way::within_u32, Way::within_i64,
                    Way::within_u64, Way::chosen);
    case Initialisation::normal:
      return one_of(Way::between_f32, Way::between_f64, Way::chosen, Way::chosen, Way::chosen, Way::chosen,
                    Way::chosen);
    case Initialisation::permutation:
      if (whole || argument.structure || is_floating(argument.type)) return whole;
      return size_in_bytes(argument.type) == 4 ? Way::permuted_32 : Way::permuted_64;
    case Initialisation::sorted:
      if (whole || argument.structure) return whole;
      return one_of(Way::ascending_f32, Way::ascending_f64, Way::ascending_i32, Way::ascending_u32,
                    Way::ascending_i64, Way::ascending_u64, std::nullopt);
    case Initialisation::offsets:
      return !argument.structure && count <= FreshInputs::most_offsets ? std::optional(Way::whole)
                                                                       : std::nullopt;
    default:
      return std::nullopt;
  }
}

/// Sorts the pool of a way that needs it so; floating ranges that are too wide to compute in are not filled
/// evenly but between neighbours.
FreshInputs::Way ready(FreshInputs::Way way, std::vector<std::byte>& pool) {
  using Way = FreshInputs::Way;
  switch (way) {
    case Way::evenly_f32:
      sort_pool<float>(pool);
      return has_finite_span<float>(pool) ? way : Way::between_f32;
    case Way::evenly_f64:
      sort_pool<double>(pool);
      return has_finite_span<double>(pool) ? way : Way::between_f64;
    case Way::between_f32:
      sort_pool<float>(pool);
      break;
    case Way::between_f64:
      sort_pool<double>(pool);
      break;
    case Way::within_i32:
      sort_pool<std::int32_t>(pool);
      break;
    case Way::within_u32:
      sort_pool<std::uint32_t>(pool);
      break;
    case Way::within_i64:
      sort_pool<std::int64_t>(pool);
      break;
    case Way::within_u64:
      sort_pool<std::uint64_t>(pool);
      break;
    default:
      break;  // of sorted arrays it is sorted, the others take any of it
  }
  return way;
}

}  // namespace

FreshInputs::FreshInputs(const Problem& problem, const ShapePlan& plan, std::uint64_t seed)
    : pools_(problem.arguments.size()),
      ways_(problem.arguments.size()),
      arguments_(problem.arguments.size()),
      draws_(problem.arguments.size()),
      bytes_(problem.arguments.size()),
      others_(problem.arguments.size()) {
  const Shape& shape = problem.shapes[plan.shape];
  for (std::size_t a = 0; a < problem.arguments.size(); ++a) {
    const Argument& argument = problem.arguments[a];
    bytes_[a] = argument.element_bytes();
    if (!argument.is_input()) continue;
    const std::optional<Way> way = way_of(argument, plan.arguments[a].count);
    draws_[a] = way.has_value();
    others_[a] = !way;
    if (!way) continue;
    ways_[a] = *way;
    if (*way == Way::whole) {
      arguments_[a] = at_shape(argument, shape);
    } else if (*way != Way::permuted_32 && *way != Way::permuted_64) {
      pools_[a].resize(values * bytes_[a]);
      Rng rng = Rng::stream(seed, argument.name);
      fill_input(at_shape(argument, shape), values, rng, pools_[a].data());
      ways_[a] = ready(*way, pools_[a]);
    }
  }
}

void FreshInputs::draw(std::size_t argument, std::size_t count, std::uint64_t seed, std::byte* out) const {
  const std::byte* const pool = pools_[argument].data();
  Rng rng(seed);
  switch (ways_[argument]) {
    case Way::between_f32:
      return between<float, std::uint32_t>(pool, count, seed, out);
    case Way::between_f64:
      return between<double, std::uint64_t>(pool, count, seed, out);
    case Way::evenly_f32:
      return evenly<float, std::int32_t>(pool, count, seed, out);
    case Way::evenly_f64:
      return evenly<double, std::int64_t>(pool, count, seed, out);
    case Way::within_i32:
      return within<std::int32_t>(pool, count, rng, out);
    case Way::within_u32:
      return within<std::uint32_t>(pool, count, rng, out);
    case Way::within_i64:
      return within<std::int64_t>(pool, count, rng, out);
    case Way::within_u64:
      return within<std::uint64_t>(pool, count, rng, out);
    case Way::permuted_32:
      return permute<std::uint32_t>(count, rng, out);
    case Way::permuted_64:
      return permute<std::uint64_t>(count, rng, out);
    case Way::ascending_f32:
      return ascending<float>(pool, count, rng, out);
    case Way::ascending_f64:
      return ascending<double>(pool, count, rng, out);
    case Way::ascending_i32:
      return ascending<std::int32_t>(pool, count, rng, out);
    case Way::ascending_u32:
      return ascending<std::uint32_t>(pool, count, rng, out);
    case Way::ascending_i64:
      return ascending<std::int64_t>(pool, count, rng, out);
    case Way::ascending_u64:
      return ascending<std::uint64_t>(pool, count, rng, out);
    case Way::whole:
      return fill_input(arguments_[argument], count, rng, out);
    case Way::chosen:
      break;
  }
  switch (bytes_[argument]) {
    case 1:
      return choose<1>(pool, 1, count, rng, out);
    case 2:
      return choose<2>(pool, 2, count, rng, out);
    case 4:
      return choose<4>(pool, 4, count, rng, out);
    case 8:
      return choose<8>(pool, 8, count, rng, out);
    default:
      return choose<0>(pool, bytes_[argument], count, rng, out);
  }
}

}  // namespace kernelsearch::detail
