// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The softmax of each row of a row-major matrix: exp(x - max) / sum of exp(x - max). METHOD 0 keeps the
// exponentials in the output and scales them; METHOD 1 computes them a second time instead; METHOD 2 finds
// maximum and sum in one walk, rescaling the sum when the maximum grows (Milakov and Gimelshein, 2018).
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace {

typedef float Vector __attribute__((vector_size(sizeof(float) * VECTOR_WIDTH)));
typedef std::int32_t IntVector __attribute__((vector_size(sizeof(float) * VECTOR_WIDTH)));
// As `Vector`, wherever it lies. (A typedef: clang drops the alignment from a `using`.)
typedef float LooseVector __attribute__((vector_size(sizeof(float) * VECTOR_WIDTH), aligned(4), may_alias));

constexpr std::ptrdiff_t width = VECTOR_WIDTH;
constexpr std::ptrdiff_t step = VECTOR_WIDTH * VECTORS;
constexpr float lowest = std::numeric_limits<float>::lowest();

#define INLINE [[maybe_unused]] __attribute__((always_inline)) inline

INLINE Vector load(const float* from) {
  return *reinterpret_cast<const LooseVector*>(from);
}
INLINE void store(float* to, const Vector& value) {
  *reinterpret_cast<LooseVector*>(to) = value;
}
INLINE Vector larger(const Vector& x, const Vector& y) {
  return x > y ? x : y;
}

// exp(x) for x <= 0: 2^k exp(r) with |r| <= ln(2) / 2, exp(r) as a Taylor polynomial of degree EXP_DEGREE,
// whose relative error is below 3e-6 for degree 5 and 2e-7 for 6. What would underflow becomes 1e-38 or less.
INLINE Vector exponential(const Vector& given) {
#if EXP_DEGREE == 0
  Vector result;
  for (int lane = 0; lane < VECTOR_WIDTH; ++lane) result[lane] = std::exp(given[lane]);
  return result;
#else
  const Vector least = Vector{} - 87.0f;
  const Vector x = larger(given, least);
  // Conversion truncates, and x is not positive: this rounds to nearest.
  const IntVector k = __builtin_convertvector(x * 1.44269504f - 0.5f, IntVector);
  const Vector whole = __builtin_convertvector(k, Vector);
  const Vector r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;  // ln(2) in two parts (Cephes)
#  if EXP_DEGREE == 7
  Vector sum = Vector{} + 1.0f / 5040;
  sum = sum * r + 1.0f / 720;
#  elif EXP_DEGREE == 6
  Vector sum = Vector{} + 1.0f / 720;
#  endif
#  if EXP_DEGREE >= 6
  sum = sum * r + 1.0f / 120;
#  else
  Vector sum = Vector{} + 1.0f / 120;
#  endif
  sum = sum * r + 1.0f / 24;
  sum = sum * r + 1.0f / 6;
  sum = sum * r + 0.5f;
  sum = sum * r + 1.0f;
  sum = sum * r + 1.0f;
  const IntVector power = (k + 127) << 23;
  Vector scale;
  std::memcpy(&scale, &power, sizeof(scale));
  return sum * scale;
#endif
}

// The last, incomplete vector of a row; lanes beyond it take no part.
INLINE Vector load_part(const float* from, std::ptrdiff_t count) {
  Vector value = Vector{} + lowest;
  std::memcpy(&value, from, static_cast<std::size_t>(count) * sizeof(float));
  return value;
}

INLINE float largest_lane(const Vector& value) {
  float result = value[0];
  for (int lane = 1; lane < VECTOR_WIDTH; ++lane) result = value[lane] > result ? value[lane] : result;
  return result;
}

INLINE float sum_of_lanes(const Vector& value) {
  float result = 0;
  for (int lane = 0; lane < VECTOR_WIDTH; ++lane) result += value[lane];
  return result;
}

// Calls each(offset, vector index) for whole vectors, VECTORS a turn so that their chains are independent,
// then rest(offset, count) once for what is left of the row.
template <class Each, class Rest>
INLINE void walk(std::ptrdiff_t columns, const float* ahead, const Each& each, const Rest& rest) {
  std::ptrdiff_t i = 0;
  for (; i + step <= columns; i += step) {
    if (PREFETCH > 0) {
      for (std::ptrdiff_t line = 0; line < step; line += 16) __builtin_prefetch(ahead + i + PREFETCH + line);
    }
#pragma GCC unroll 8
    for (int v = 0; v < VECTORS; ++v) each(i + v * width, v);
  }
  for (; i + width <= columns; i += width) each(i, 0);
  if (i < columns) rest(i, columns - i);
}

INLINE float maximum(const float* x, std::ptrdiff_t columns) {
  Vector part[VECTORS];
  for (Vector& value : part) value = Vector{} + lowest;
  walk(
      columns, x, [&](std::ptrdiff_t i, int v) { part[v] = larger(part[v], load(x + i)); },
      [&](std::ptrdiff_t i, std::ptrdiff_t count) { part[0] = larger(part[0], load_part(x + i, count)); });
  for (int v = 1; v < VECTORS; ++v) part[0] = larger(part[0], part[v]);
  return largest_lane(part[0]);
}

// The sum of exp(x - largest), which are kept in y if Keep.
template <bool Keep>
INLINE float exponentials(const float* x, float* y, std::ptrdiff_t columns, float largest) {
  Vector part[VECTORS] = {};
  float tail = 0;
  walk(
      columns, x,
      [&](std::ptrdiff_t i, int v) {
        const Vector value = exponential(load(x + i) - largest);
        if (Keep) store(y + i, value);
        part[v] += value;
      },
      [&](std::ptrdiff_t i, std::ptrdiff_t count) {
        const Vector value = exponential(load_part(x + i, count) - largest);
        if (Keep) std::memcpy(y + i, &value, static_cast<std::size_t>(count) * sizeof(float));
        for (std::ptrdiff_t lane = 0; lane < count; ++lane) tail += value[lane];
      });
  for (int v = 1; v < VECTORS; ++v) part[0] += part[v];
  return sum_of_lanes(part[0]) + tail;
}

// Maximum and sum of one walk: every lane has a maximum of its own until the end.
INLINE float maximum_and_sum(const float* x, std::ptrdiff_t columns, float& sum) {
  Vector largest[VECTORS], part[VECTORS];
  for (int v = 0; v < VECTORS; ++v) largest[v] = Vector{} + lowest, part[v] = Vector{};
  const auto take = [&](const Vector& value, int v) {
    const Vector next = larger(largest[v], value);
    part[v] = part[v] * exponential(largest[v] - next) + exponential(value - next);
    largest[v] = next;
  };
  float tail_largest = lowest;
  std::ptrdiff_t tail = columns;
  walk(
      columns, x, [&](std::ptrdiff_t i, int v) { take(load(x + i), v); },
      [&](std::ptrdiff_t i, std::ptrdiff_t count) {
        tail = i;
        tail_largest = largest_lane(load_part(x + i, count));
      });
  Vector all = largest[0];
  for (int v = 1; v < VECTORS; ++v) all = larger(all, largest[v]);
  float result = largest_lane(all);
  result = tail_largest > result ? tail_largest : result;
  Vector total = Vector{};
  for (int v = 0; v < VECTORS; ++v) total += part[v] * exponential(largest[v] - result);
  sum = sum_of_lanes(total);
  for (; tail < columns; ++tail) sum += std::exp(x[tail] - result);
  return result;
}

INLINE void softmax_row(const float* x, float* y, std::ptrdiff_t columns) {
  float sum;
#if METHOD == 2
  const float largest = maximum_and_sum(x, columns, sum);
#else
  const float largest = maximum(x, columns);
  sum = exponentials<METHOD == 0>(x, y, columns, largest);
#endif
  const float factor = 1.0f / sum;
  const auto value = [&](const Vector& from) {
    const Vector top = METHOD == 0 ? from : exponential(from - largest);
    return DIVIDE ? top / sum : top * factor;
  };
  const float* from = METHOD == 0 ? y : x;
  walk(
      columns, from, [&](std::ptrdiff_t i, int) { store(y + i, value(load(from + i))); },
      [&](std::ptrdiff_t i, std::ptrdiff_t count) {
        const Vector last = value(load_part(from + i, count));
        std::memcpy(y + i, &last, static_cast<std::size_t>(count) * sizeof(float));
      });
}

}  // namespace

extern "C" void softmax(std::int32_t rows, std::int32_t columns, const float* input, float* output) {
  for (std::ptrdiff_t row = 0; row < rows; ++row)
    softmax_row(input + row * columns, output + row * columns, columns);
}
