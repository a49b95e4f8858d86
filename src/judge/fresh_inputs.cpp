// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/fresh_inputs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "judge/input_generator.hpp"
#include "judge/lane_rng.hpp"
#include "judge/stretches.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/problem/inputs.hpp"

namespace kernelsearch::detail {
namespace {

constexpr int bits = std::bit_width(FreshInputs::values - 1);
static_assert(std::has_single_bit(FreshInputs::values) && bits <= 13);

/// The places in the pool that a lane of a stretch may take values from.
struct Choice {
  std::uint32_t first, count;
};
using Choices = std::array<Choice, Stretch::lanes>;

Choices choices(const Stretch& stretch, std::size_t values) {
  Choices result;
  for (std::size_t lane = 0; lane < result.size(); ++lane) {
    const auto at = [values](float rank) {
      return static_cast<std::uint32_t>(rank * static_cast<float>(values));
    };
    const std::uint32_t first =
        std::min(at(stretch.ranks[lane].from), static_cast<std::uint32_t>(values - 1));
    result[lane] = {
        first,
        std::max(1u, std::min(at(stretch.ranks[lane].to), static_cast<std::uint32_t>(values)) - first)};
  }
  return result;
}

// 16 random bits choose an element: the place by all of them, whether it is 0 by the lowest, which tell next
// to nothing of the place. Behind the pool's values lies a zero. `bytes` is known when this is compiled, or
// 0.
template <std::size_t bytes, bool sparse>
[[gnu::always_inline]] inline void choose(const std::byte* pool, std::size_t each, const Stretch& stretch,
                                          LaneRng& rng, std::byte* out) {
  const std::size_t size = bytes != 0 ? bytes : each;
  constexpr std::size_t drawn = sizeof(LaneRng::Block) / 2;
  const Choices choice = choices(stretch, FreshInputs::values);
  std::uint16_t random[drawn], place[drawn], first[drawn], of[drawn];
  for (std::size_t j = 0; j < drawn; ++j) {
    first[j] = static_cast<std::uint16_t>(choice[j % Stretch::lanes].first);
    of[j] = static_cast<std::uint16_t>(choice[j % Stretch::lanes].count);
  }
  const auto zeros = static_cast<std::uint16_t>(stretch.zeros / 32);
  LaneRng::Block block;
  const auto choose_places = [&]() __attribute__((always_inline)) {
    rng(block);
    std::memcpy(random, &block, sizeof block);
    for (std::size_t j = 0; j < drawn; ++j) {
      const std::uint32_t product = std::uint32_t{random[j]} * of[j];
      place[j] = static_cast<std::uint16_t>(first[j] + static_cast<std::uint16_t>(product >> 16));
    }
    if constexpr (sparse)
      for (std::size_t j = 0; j < drawn; ++j)
        place[j] = (random[j] & 7u) < zeros ? static_cast<std::uint16_t>(FreshInputs::values) : place[j];
  };
  std::size_t i = 0;
  for (; i + drawn <= stretch.count; i += drawn, out += drawn * size) {
    choose_places();
    for (std::size_t j = 0; j < drawn; ++j) std::memcpy(out + j * size, pool + place[j] * size, size);
  }
  if (i == stretch.count) return;
  choose_places();
  for (std::size_t j = 0; i + j < stretch.count; ++j)
    std::memcpy(out + j * size, pool + place[j] * size, size);
}

/// Between a value of the pool and the next one, at random: as the pool is sorted that keeps its
/// distribution. 13 bits are for the pair and the others for the place between its two values, 19 in single
/// precision; the lowest say whether the element is 0.
template <class T, class Random, bool sparse>
[[gnu::always_inline]] inline void between(const std::byte* pool, const Stretch& stretch, LaneRng& rng,
                                           std::byte* out) {
  constexpr int place = 8 * sizeof(Random) - bits;
  constexpr T unit = T{1} / static_cast<T>(Random{1} << place);
  const Choices pairs = choices(stretch, FreshInputs::values - 1);
  LaneRng::Block block;
  Random random[sizeof block / sizeof(Random)];
  constexpr std::size_t drawn = std::size(random);
  for (std::size_t i = 0; i < stretch.count; i += drawn) {
    rng(block);
    std::memcpy(random, &block, sizeof block);
    const std::size_t here = std::min(drawn, stretch.count - i);
    for (std::size_t j = 0; j < here; ++j) {
      const Choice& pair = pairs[j % Stretch::lanes];
      const std::uint64_t below =
          pair.first + ((static_cast<std::uint64_t>(random[j] >> place) * pair.count) >> bits);
      T low, high;
      std::memcpy(&low, pool + below * sizeof(T), sizeof(T));
      std::memcpy(&high, pool + (below + 1) * sizeof(T), sizeof(T));
      const T part = static_cast<T>(random[j] & ((Random{1} << place) - 1)) * unit;
      T value = std::min(low + (high - low) * part, high);
      if (sparse && (random[j] & 255u) < stretch.zeros) value = 0;
      std::memcpy(out + (i + j) * sizeof(T), &value, sizeof(T));
    }
  }
}

/// Evenly between two places of the range from the least to the greatest of the pool, to which the declared
/// one has shrunk by some hundredths of a per cent. Whole numbers become floating ones around the middle, so
/// that in single precision small values keep all their bits: a table of the values that were met is of no
/// use.
template <class T, class Whole, bool sparse>
[[gnu::always_inline]] inline void evenly(const std::byte* pool, const Stretch& stretch, LaneRng& rng,
                                          std::byte* out) {
  using Numbers [[gnu::vector_size(LaneRng::vector_bytes)]] = T;
  using Wholes [[gnu::vector_size(LaneRng::vector_bytes)]] = Whole;
  constexpr std::size_t width = LaneRng::vector_bytes / sizeof(T);
  T low, high;
  std::memcpy(&low, pool, sizeof(T));
  std::memcpy(&high, pool + (FreshInputs::values - 1) * sizeof(T), sizeof(T));
  Numbers middle[2], scale[2], least[2], greatest[2];
  for (std::size_t i = 0; i < (stretch.periodic ? 2 * width : 1); ++i) {
    const RankRange ranks = stretch.ranks[i % Stretch::lanes];
    const T from = ranks.from <= 0 ? low : low + (high - low) * static_cast<T>(ranks.from),
            to = ranks.to >= 1 ? high : low + (high - low) * static_cast<T>(ranks.to);
    middle[i / width][i % width] = from + (to - from) / 2;
    scale[i / width][i % width] =
        (to - from) / static_cast<T>(std::numeric_limits<std::make_unsigned_t<Whole>>::max());
    least[i / width][i % width] = from;
    greatest[i / width][i % width] = to;
  }
  if (!stretch.periodic)
    for (Numbers* const one : {middle, scale, least, greatest}) one[0] = one[1] = one[0][0] - Numbers{};
  // Compared in halves where numbers are long: processors without more than SSE2 compare no longer ones.
  using Halves [[gnu::vector_size(LaneRng::vector_bytes)]] = std::int32_t;
  const Halves zeros = static_cast<std::int32_t>(stretch.zeros) - Halves{};
  LaneRng::Block block;
  const std::size_t bytes = stretch.count * sizeof(T);
  for (std::size_t at = 0; at < bytes; at += sizeof block) {
    rng(block);
    for (std::size_t half = 0; half < 2; ++half) {
      Wholes random;
      std::memcpy(&random, &block.pair[half], sizeof random);
      Numbers value = middle[half] + __builtin_convertvector(random, Numbers) * scale[half];
      value = value < least[half] ? least[half] : value;  // rounding may lead past the ends
      value = value > greatest[half] ? greatest[half] : value;
      if constexpr (sparse) {
        Halves low_bits;
        std::memcpy(&low_bits, &block.pair[half], sizeof low_bits);
        Halves kept = (low_bits & 255) >= zeros;
        if constexpr (sizeof(T) == 8) kept = __builtin_shufflevector(kept, kept, 0, 0, 2, 2, 4, 4, 6, 6);
        Halves whole;
        std::memcpy(&whole, &value, sizeof value);
        whole &= kept;
        std::memcpy(&value, &whole, sizeof value);
      }
      std::memcpy(&block.pair[half], &value, sizeof value);
    }
    std::memcpy(out + at, &block, std::min(sizeof block, bytes - at));
  }
}

/// Whether the range of the pool, which is sorted, is one in which `evenly` can compute.
template <class T>
bool has_finite_span(const std::vector<std::byte>& pool) {
  T low, high;
  std::memcpy(&low, pool.data(), sizeof(T));
  std::memcpy(&high, pool.data() + (FreshInputs::values - 1) * sizeof(T), sizeof(T));
  return std::isfinite(high - low);
}

/// Whole numbers from the least to the greatest of the pool: the upper half of a product with as many random
/// bits as they have. The lowest bits say whether the element is 0.
template <class T, bool sparse>
[[gnu::always_inline]] inline void within(const std::byte* pool, const Stretch& stretch, LaneRng& rng,
                                          std::byte* out) {
  using Whole = std::make_unsigned_t<T>;
  __extension__ using Wide = std::conditional_t<sizeof(T) == 4, std::uint64_t, unsigned __int128>;
  constexpr std::size_t drawn = sizeof(LaneRng::Block) / sizeof(T);
  T low, high;
  std::memcpy(&low, pool, sizeof(T));
  std::memcpy(&high, pool + (FreshInputs::values - 1) * sizeof(T), sizeof(T));
  const Whole all = static_cast<Whole>(static_cast<Whole>(high) - static_cast<Whole>(low));
  Whole first[drawn], last[drawn];
  for (std::size_t j = 0; j < drawn; ++j) {
    const auto offset = [all](float rank) {
      const double at = static_cast<double>(all) * double{rank};
      return at >= static_cast<double>(all) ? all : static_cast<Whole>(at);
    };
    first[j] = offset(stretch.ranks[j % Stretch::lanes].from);
    last[j] = static_cast<Whole>(offset(stretch.ranks[j % Stretch::lanes].to) - first[j]);
    first[j] = static_cast<Whole>(first[j] + static_cast<Whole>(low));
  }
  LaneRng::Block block;
  if constexpr (sizeof(T) == 4) {
    // Two numbers in each lane of 64 bits, so that processors without a wide product of 32 bits have one.
    using Lanes = LaneRng::Lanes;
    using Halves [[gnu::vector_size(LaneRng::vector_bytes)]] = std::uint32_t;
    const Lanes lower = Lanes{} + 0xffffffffu;
    const Halves zeros = Halves{} + stretch.zeros;
    Lanes spans[2];
    Halves least;
    static_assert(LaneRng::vector_bytes / sizeof(T) == Stretch::lanes);
    for (std::size_t j = 0; j < Stretch::lanes; ++j) {
      spans[j % 2][j / 2] = last[j];
      least[j] = first[j];
    }
    for (std::size_t i = 0; i < stretch.count; i += drawn) {
      rng(block);
      for (Lanes& pair : block.pair) {
        const Lanes even = pair & lower, odd = pair >> 32;
        // Times last + 1, which may not fit.
        const Lanes numbers = (even * spans[0] + even) >> 32 | ((odd * spans[1] + odd) & ~lower);
        Halves value, random;
        std::memcpy(&value, &numbers, sizeof value);
        std::memcpy(&random, &pair, sizeof random);
        value += least;
        if constexpr (sparse) value &= static_cast<Halves>((random & 255u) >= zeros);
        std::memcpy(&pair, &value, sizeof value);
      }
      std::memcpy(out + i * sizeof(T), &block, std::min(drawn, stretch.count - i) * sizeof(T));
    }
    return;
  }
  Whole random[drawn], value[drawn];
  for (std::size_t i = 0; i < stretch.count; i += drawn) {
    rng(block);
    std::memcpy(random, &block, sizeof block);
    for (std::size_t j = 0; j < drawn; ++j) {
      const Wide product = Wide{random[j]} * last[j] + random[j];
      value[j] = static_cast<Whole>(first[j] + static_cast<Whole>(product >> (8 * sizeof(T))));
      if constexpr (sparse) value[j] = (random[j] & 255u) < stretch.zeros ? Whole{0} : value[j];
    }
    std::memcpy(out + i * sizeof(T), value, std::min(drawn, stretch.count - i) * sizeof(T));
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

/// Ascending elements without sorting all: as many of each pair of neighbours of the pool as chance gives it,
/// and those few are sorted.
template <class T>
void ascending(const std::byte* pool, const RankRange& ranks, std::size_t count, Rng& rng, std::byte* out) {
  Stretch one;
  one.ranks.fill(ranks);
  const Choice part = choices(one, FreshInputs::values - 1).front();
  const std::uint64_t pairs = part.count;
  pool += part.first * sizeof(T);
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

/// By value: what is chosen by rank has a part of the range then.
void sort_pool(ElementType type, std::vector<std::byte>& pool) {
  const std::size_t size = size_in_bytes(type);
  std::vector<std::pair<double, std::size_t>> order(FreshInputs::values);
  for (std::size_t i = 0; i < order.size(); ++i) {
    double value = 0;  // of two that share a byte their sum
    for (std::size_t k = 0; k < stored_together(type); ++k) value += load_element(type, &pool[i * size], k);
    order[i] = {value, i};
  }
  std::sort(order.begin(), order.end());
  const std::vector<std::byte> drawn = pool;
  for (std::size_t i = 0; i < order.size(); ++i)
    std::memcpy(&pool[i * size], &drawn[order[i].second * size], size);
}

/// Structs have no order: parts of the pool are drawn from parts of the fields' ranges instead.
void fill_structs(Argument argument, Rng& rng, std::vector<std::byte>& pool) {
  constexpr std::size_t parts = 16, each = FreshInputs::values / parts;
  const StructType declared = *argument.structure;
  for (std::size_t part = 0; part < parts; ++part) {
    for (std::size_t f = 0; f < declared.fields.size(); ++f) {
      Argument field = field_argument(argument, declared.fields[f]);
      field.exact = argument.exact;
      field = narrowed(field, drawn_ranks(declared_range(field), rng));
      argument.structure->fields[f].low = field.low;
      argument.structure->fields[f].high = field.high;
    }
    fill_input(argument, each, rng, pool.data() + part * each * argument.element_bytes());
    argument.structure = declared;
  }
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

/// Floating ranges that are too wide to compute in are not filled evenly but between neighbours.
FreshInputs::Way ready(FreshInputs::Way way, const std::vector<std::byte>& pool) {
  using Way = FreshInputs::Way;
  if (way == Way::evenly_f32 && !has_finite_span<float>(pool)) return Way::between_f32;
  if (way == Way::evenly_f64 && !has_finite_span<double>(pool)) return Way::between_f64;
  return way;
}

template <std::size_t bytes>
[[gnu::always_inline]] inline void choose_any(const std::byte* pool, std::size_t each, const Stretch& stretch,
                                              LaneRng& rng, std::byte* out) {
  if (stretch.zeros != 0)
    choose<bytes, true>(pool, each, stretch, rng, out);
  else
    choose<bytes, false>(pool, each, stretch, rng, out);
}

/// What a stretch is filled by: the way, the pool of the argument, and the bytes of an element.
struct Source {
  FreshInputs::Way way;
  const std::byte* pool;
  std::size_t bytes;
};

[[gnu::always_inline]] inline void fill_inlined(const Source& source, const Stretch& stretch, LaneRng& lanes,
                                                std::byte* out) {
  using Way = FreshInputs::Way;
  const std::byte* const pool = source.pool;
  const bool sparse = stretch.zeros != 0;
  switch (source.way) {
    case Way::between_f32:
      return sparse ? between<float, std::uint32_t, true>(pool, stretch, lanes, out)
                    : between<float, std::uint32_t, false>(pool, stretch, lanes, out);
    case Way::between_f64:
      return sparse ? between<double, std::uint64_t, true>(pool, stretch, lanes, out)
                    : between<double, std::uint64_t, false>(pool, stretch, lanes, out);
    case Way::evenly_f32:
      return sparse ? evenly<float, std::int32_t, true>(pool, stretch, lanes, out)
                    : evenly<float, std::int32_t, false>(pool, stretch, lanes, out);
    case Way::evenly_f64:
      return sparse ? evenly<double, std::int64_t, true>(pool, stretch, lanes, out)
                    : evenly<double, std::int64_t, false>(pool, stretch, lanes, out);
    case Way::within_i32:
      return sparse ? within<std::int32_t, true>(pool, stretch, lanes, out)
                    : within<std::int32_t, false>(pool, stretch, lanes, out);
    case Way::within_u32:
      return sparse ? within<std::uint32_t, true>(pool, stretch, lanes, out)
                    : within<std::uint32_t, false>(pool, stretch, lanes, out);
    case Way::within_i64:
      return sparse ? within<std::int64_t, true>(pool, stretch, lanes, out)
                    : within<std::int64_t, false>(pool, stretch, lanes, out);
    case Way::within_u64:
      return sparse ? within<std::uint64_t, true>(pool, stretch, lanes, out)
                    : within<std::uint64_t, false>(pool, stretch, lanes, out);
    default:
      break;
  }
  switch (source.bytes) {
    case 1:
      return choose_any<1>(pool, 1, stretch, lanes, out);
    case 2:
      return choose_any<2>(pool, 2, stretch, lanes, out);
    case 4:
      return choose_any<4>(pool, 4, stretch, lanes, out);
    case 8:
      return choose_any<8>(pool, 8, stretch, lanes, out);
    default:
      return choose_any<0>(pool, source.bytes, stretch, lanes, out);
  }
}

void fill_plain(const Source& source, const Stretch& stretch, LaneRng& lanes, std::byte* out) {
  fill_inlined(source, stretch, lanes, out);
}

#ifdef __x86_64__
[[gnu::target("avx2")]] void fill_avx2(const Source& source, const Stretch& stretch, LaneRng& lanes,
                                       std::byte* out) {
  fill_inlined(source, stretch, lanes, out);
}

decltype(&fill_plain) fill_of_this_processor() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") ? fill_avx2 : fill_plain;
}
#else
decltype(&fill_plain) fill_of_this_processor() {
  return fill_plain;
}
#endif

}  // namespace

FreshInputs::FreshInputs(const Problem& problem, const ShapePlan& plan, std::uint64_t seed)
    : pools_(problem.arguments.size()),
      ways_(problem.arguments.size()),
      arguments_(problem.arguments.size()),
      declared_(problem.arguments.size()),
      spreads_(problem.arguments.size()),
      draws_(problem.arguments.size()),
      bytes_(problem.arguments.size()),
      others_(problem.arguments.size()),
      quantised_(problem.arguments.size()) {
  const Shape& shape = problem.shapes[plan.shape];
  for (std::size_t a = 0; a < problem.arguments.size(); ++a) {
    const Argument& given = problem.arguments[a];
    quantised_[a] = given.is_in_quantised();
    // Scales come from elsewhere, and so do elements whose floats are another argument's.
    if (!given.scale_of.empty() || (given.quantised && !given.quantised->of.empty())) continue;
    const Argument argument = given.quantised ? floats_of(given) : given;
    bytes_[a] = argument.element_bytes();
    if (!argument.is_input()) continue;
    const std::optional<Way> way = way_of(argument, plan.arguments[a].elements());
    draws_[a] = way.has_value() && !quantised_[a];
    others_[a] = !way && !quantised_[a];
    if (!way) continue;
    ways_[a] = *way;
    arguments_[a] = at_shape(argument, shape);
    declared_[a] = declared_range(arguments_[a]);
    Rng parameters = Rng::stream(seed, argument.name + " parameters");
    spreads_[a] = Spread(declared_[a], parameters);
    if (*way == Way::whole || *way == Way::permuted_32 || *way == Way::permuted_64) continue;
    pools_[a].resize(values * bytes_[a]);
    Rng rng = Rng::stream(seed, argument.name);
    if (argument.structure) {
      fill_structs(arguments_[a], rng, pools_[a]);
    } else {
      fill_input(arguments_[a], values, rng, pools_[a].data());
      sort_pool(argument.type, pools_[a]);
    }
    ways_[a] = ready(*way, pools_[a]);
    pools_[a].resize((values + 1) * bytes_[a]);  // a zero for sparse ones
  }
  quantised_arrays_ = quantised_arrays(problem, plan);
}

std::vector<QuantisedArray> quantised_arrays(const Problem& problem, const ShapePlan& plan) {
  const auto place = [&](const std::string& name) {
    const auto found = std::find_if(problem.arguments.begin(), problem.arguments.end(),
                                    [&](const Argument& one) { return one.name == name; });
    return static_cast<std::size_t>(found - problem.arguments.begin());
  };
  std::vector<QuantisedArray> arrays;
  for (std::size_t a = 0; a < problem.arguments.size(); ++a) {
    const Argument& argument = problem.arguments[a];
    if (!argument.quantised) continue;
    QuantisedArray& one = arrays.emplace_back();
    one.argument = one.floats = a;
    one.scale = place(argument.quantised->scale);
    if (!argument.quantised->of.empty()) one.floats = place(argument.quantised->of);
    one.type = argument.type;
    one.scale_type = problem.arguments[one.scale].type;
    one.float_type = one.floats == a ? ElementType::f32 : problem.arguments[one.floats].type;
    one.stored = plan.arguments[a].count;
    one.scales = plan.arguments[one.scale].count;
    one.blocks =
        quantised_blocks(argument, problem.shapes[plan.shape], plan.arguments[a].elements(), one.scales);
    if (plan.arguments[one.floats].elements() != plan.arguments[a].elements())
      raise<ConfigError>("the floats of " + argument.name + " are as many as its elements are not",
                         std::to_string(plan.arguments[one.floats].elements()) + " of " +
                             problem.arguments[one.floats].name + ", " +
                             std::to_string(plan.arguments[a].elements()) + " of " + argument.name,
                         "give both the same size");
  }
  return arrays;
}

void write_quantised(const QuantisedArray& array, const std::vector<std::byte>& floats, Contents& contents) {
  const std::size_t elements = array.stored * stored_together(array.type);
  std::vector<double> values(elements);
  for (std::size_t i = 0; i < elements; ++i) values[i] = load_element(array.float_type, floats.data(), i);
  contents[array.argument].resize(array.stored * size_in_bytes(array.type));
  contents[array.scale].resize(array.scales * size_in_bytes(array.scale_type));
  quantise(values, array.blocks, array.type, array.scale_type, contents[array.argument].data(),
           contents[array.scale].data());
}

void FreshInputs::quantise_into(Contents& contents, std::uint64_t seed) const {
  contents.resize(arguments_.size());
  for (const QuantisedArray& array : quantised_arrays_) {
    const std::size_t elements = array.stored * stored_together(array.type);
    std::vector<std::byte> floats(elements * size_in_bytes(array.float_type));
    draw(array.floats, elements, Rng::stream(seed, arguments_[array.floats].name)(), floats.data());
    write_quantised(array, floats, contents);
    if (array.floats != array.argument) contents[array.floats] = std::move(floats);
  }
}

void FreshInputs::generate_by(InputGenerator& generator, const ShapePlan& plan) {
  generated_.clear();
  for (const PlannedArgument& argument : plan.arguments)
    generated_.push_back(argument.is_input() && argument.initialisation == Initialisation::generator);
  if (std::find(generated_.begin(), generated_.end(), true) == generated_.end()) return;
  generator_ = &generator;
  plan_ = plan;
}

Contents FreshInputs::generated(std::uint64_t seed) const {
  if (generator_ == nullptr && quantised_arrays_.empty()) return {};
  const double begin = monotonic_seconds();
  Contents contents;
  if (generator_ != nullptr) contents = generator_->contents(plan_, InputFlavour::declared, seed, generated_);
  quantise_into(contents, seed);
  const double seconds = monotonic_seconds() - begin;
  generating_ = generating_ > 0 ? std::min(generating_, seconds) : seconds;
  return contents;
}

std::size_t FreshInputs::calls_filled_in(double seconds) const {
  if (generator_ == nullptr && quantised_arrays_.empty()) return std::numeric_limits<std::size_t>::max();
  if (generating_ <= 0) (void)generated(secret_seed());
  return static_cast<std::size_t>(std::max(1.0, seconds / generating_));
}

void FreshInputs::draw(std::size_t argument, std::size_t count, std::uint64_t seed, std::byte* out) const {
  const std::byte* const pool = pools_[argument].data();
  Rng rng(seed);
  const auto part = [&] { return drawn_ranks(declared_[argument], rng); };
  switch (ways_[argument]) {
    case Way::permuted_32:
      return permute<std::uint32_t>(count, rng, out);
    case Way::permuted_64:
      return permute<std::uint64_t>(count, rng, out);
    case Way::ascending_f32:
      return ascending<float>(pool, part(), count, rng, out);
    case Way::ascending_f64:
      return ascending<double>(pool, part(), count, rng, out);
    case Way::ascending_i32:
      return ascending<std::int32_t>(pool, part(), count, rng, out);
    case Way::ascending_u32:
      return ascending<std::uint32_t>(pool, part(), count, rng, out);
    case Way::ascending_i64:
      return ascending<std::int64_t>(pool, part(), count, rng, out);
    case Way::ascending_u64:
      return ascending<std::uint64_t>(pool, part(), count, rng, out);
    case Way::whole:
      return fill_input(narrowed(arguments_[argument], part()), count, rng, out);
    default:
      return stretches(argument, count, rng, out);
  }
}

void FreshInputs::stretches(std::size_t argument, std::size_t count, Rng& rng, std::byte* out) const {
  const std::byte* const pool = pools_[argument].data();
  const std::size_t bytes = bytes_[argument];
  Stretches all(spreads_[argument], count, rng);
  LaneRng lanes(rng());
  while (true) {
    const Stretch& stretch = all.next(rng);
    if (stretch.count == 0) return;
    fill(argument, stretch, lanes, out);
    for (std::uint32_t i = 0; i < stretch.outliers; ++i) {
      // For the sixteenth of the array's values at either end.
      const std::uint64_t random = rng();
      const RankRange whole = all.whole();
      const float depth = (whole.to - whole.from) * static_cast<float>(random & 1023u) / 16384,
                  rank = (random & 1024u) == 0 ? whole.from + depth : whole.to - depth;
      const auto place = static_cast<std::size_t>(rank * static_cast<float>(values - 1));
      const std::size_t at = (random >> 32) * stretch.count >> 32;
      std::memcpy(out + at * bytes, pool + std::min(place, values - 1) * bytes, bytes);
    }
    out += stretch.count * bytes;
  }
}

void FreshInputs::fill(std::size_t argument, const Stretch& stretch, LaneRng& lanes, std::byte* out) const {
  static const auto fill_by = fill_of_this_processor();
  fill_by({ways_[argument], pools_[argument].data(), bytes_[argument]}, stretch, lanes, out);
}

namespace {

void drop_signs(ElementType type, bool quantised, std::byte* first, std::size_t stride, std::size_t count) {
  if (is_packed(type)) {
    if (type != ElementType::f4e2m1 && !(quantised && type == ElementType::i4)) return;
    for (std::size_t i = 0; i < 2 * count; ++i)
      store_element(type, std::abs(load_element(type, first, i)), first, i);
    return;
  }
  if (quantised && type == ElementType::i8)
    for (std::size_t i = 0; i < count; ++i)
      store_element(type, std::abs(load_element(type, first, i)), first, i);
  if (!is_floating(type)) return;
  // The sign is the highest bit of the last byte.
  std::byte* at = first + size_in_bytes(type) - 1;
  for (std::size_t i = 0; i < count; ++i, at += stride) *at &= std::byte{0x7f};
}

}  // namespace

std::vector<std::byte> without_signs(const Argument& argument, std::vector<std::byte> contents) {
  // What is sorted, generated or read from a file may mean something that its magnitudes do not.
  if (!is_drawn(argument.initialisation)) return contents;
  const std::size_t stride = argument.element_bytes(), count = contents.size() / stride;
  if (!argument.structure)
    drop_signs(argument.type, argument.quantised.has_value(), contents.data(), stride, count);
  if (argument.structure)
    for (std::size_t f = 0; f < argument.structure->fields.size(); ++f)
      drop_signs(argument.structure->fields[f].type, false,
                 contents.data() + offset_of(*argument.structure, f), stride, count);
  return contents;
}

}  // namespace kernelsearch::detail
