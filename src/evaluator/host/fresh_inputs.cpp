// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/fresh_inputs.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

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

/// As `between`. Single precision has no more than 24 bits of its own: 13 for the pair and 19 for the place
/// are enough, so that one draw makes two elements.
void between_f32(const std::byte* pool, std::size_t count, Rng& rng, std::byte* out) {
  constexpr std::uint64_t pairs = FreshInputs::values - 1;
  static_assert(FreshInputs::values == 1u << 13);
  const auto element = [&](std::size_t i, std::uint64_t random) {
    const std::uint64_t below = (random >> 19) * pairs >> 13;
    float low, high;
    std::memcpy(&low, pool + below * sizeof(float), sizeof(float));
    std::memcpy(&high, pool + (below + 1) * sizeof(float), sizeof(float));
    const float value =
        std::min(low + (high - low) * (static_cast<float>(random & 0x7ffffu) * 0x1p-19f), high);
    std::memcpy(out + i * sizeof(float), &value, sizeof(float));
  };
  std::size_t i = 0;
  for (; i + 1 < count; i += 2) {
    const std::uint64_t random = rng();
    element(i, random >> 32);
    element(i + 1, random & 0xffffffffu);
  }
  if (i < count) element(i, rng() >> 32);
}

/// Between a value of the pool and the next one, at random: as the pool is sorted that keeps its
/// distribution.
template <class T>
void between(const std::byte* pool, std::size_t count, Rng& rng, std::byte* out) {
  constexpr std::uint64_t pairs = FreshInputs::values - 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t random = rng();
    const std::uint64_t below = (random >> 32) * pairs >> 32;
    T low, high;
    std::memcpy(&low, pool + below * sizeof(T), sizeof(T));
    std::memcpy(&high, pool + (below + 1) * sizeof(T), sizeof(T));
    const T part = static_cast<T>(static_cast<std::uint32_t>(random)) * static_cast<T>(0x1p-32);
    const T value = std::min(low + (high - low) * part, high);
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
  }
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

template <class T>
void sort_pool(std::vector<std::byte>& pool) {
  std::vector<T> values(FreshInputs::values);
  std::memcpy(values.data(), pool.data(), pool.size());
  std::sort(values.begin(), values.end());
  std::memcpy(pool.data(), values.data(), pool.size());
}

/// How elements of the argument are made from its pool.
FreshInputs::Way way_of(const Argument& argument) {
  using Way = FreshInputs::Way;
  if (argument.structure) return Way::chosen;
  switch (argument.type) {
    case ElementType::f32:
      return Way::between_f32;
    case ElementType::f64:
      return Way::between_f64;
    case ElementType::i32:
      return argument.initialisation == Initialisation::uniform ? Way::within_i32 : Way::chosen;
    case ElementType::u32:
      return argument.initialisation == Initialisation::uniform ? Way::within_u32 : Way::chosen;
    case ElementType::i64:
      return argument.initialisation == Initialisation::uniform ? Way::within_i64 : Way::chosen;
    case ElementType::u64:
      return argument.initialisation == Initialisation::uniform ? Way::within_u64 : Way::chosen;
    default:
      return Way::chosen;
  }
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
    const bool drawn = argument.is_array && (argument.initialisation == Initialisation::uniform ||
                                             argument.initialisation == Initialisation::normal);
    const bool whole = argument.is_array && !argument.structure && plan.arguments[a].count <= most_whole &&
                       (argument.initialisation == Initialisation::permutation ||
                        argument.initialisation == Initialisation::offsets);
    draws_[a] = drawn || whole;
    others_[a] = !draws_[a];
    if (whole) {
      ways_[a] = Way::whole;
      arguments_[a] = at_shape(argument, shape);
    }
    if (!drawn) continue;
    pools_[a].resize(values * bytes_[a]);
    Rng rng = Rng::stream(seed, argument.name);
    fill_input(at_shape(argument, shape), values, rng, pools_[a].data());
    ways_[a] = way_of(argument);
    switch (ways_[a]) {
      case Way::chosen:
      case Way::whole:
        break;
      case Way::between_f32:
        sort_pool<float>(pools_[a]);
        break;
      case Way::between_f64:
        sort_pool<double>(pools_[a]);
        break;
      case Way::within_i32:
        sort_pool<std::int32_t>(pools_[a]);
        break;
      case Way::within_u32:
        sort_pool<std::uint32_t>(pools_[a]);
        break;
      case Way::within_i64:
        sort_pool<std::int64_t>(pools_[a]);
        break;
      case Way::within_u64:
        sort_pool<std::uint64_t>(pools_[a]);
        break;
    }
  }
}

void FreshInputs::draw(std::size_t argument, std::size_t count, std::uint64_t seed, std::byte* out) const {
  const std::byte* const pool = pools_[argument].data();
  Rng rng(seed);
  switch (ways_[argument]) {
    case Way::between_f32:
      return between_f32(pool, count, rng, out);
    case Way::between_f64:
      return between<double>(pool, count, rng, out);
    case Way::within_i32:
      return within<std::int32_t>(pool, count, rng, out);
    case Way::within_u32:
      return within<std::uint32_t>(pool, count, rng, out);
    case Way::within_i64:
      return within<std::int64_t>(pool, count, rng, out);
    case Way::within_u64:
      return within<std::uint64_t>(pool, count, rng, out);
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
