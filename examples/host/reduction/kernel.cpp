// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum of n floats to nearly full single precision. A plain running sum of millions of floats is off in
// the sixth digit, so the sums here are kept in double precision (METHOD 0), are compensated after Kahan
// (METHOD 1), or are formed in blocks short enough to be accurate, whose sums are added in double precision
// (METHOD 2).
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace {

typedef float Vector __attribute__((vector_size(sizeof(float) * VECTOR_WIDTH)));
// As `Vector`, wherever it lies. (A typedef: clang drops the alignment from a `using`.)
typedef float LooseVector __attribute__((vector_size(sizeof(float) * VECTOR_WIDTH), aligned(4), may_alias));
typedef double WideVector __attribute__((vector_size(sizeof(double) * VECTOR_WIDTH)));

constexpr int unroll = UNROLL;
constexpr std::ptrdiff_t step = VECTOR_WIDTH * ACCUMULATORS;  // elements that one turn takes of a stream

// Independent sums, so that one addition need not wait for the one before.
struct DoubleSum {
  WideVector sum[ACCUMULATORS] = {};

  __attribute__((always_inline)) void add(int i, Vector value) {
    sum[i] += __builtin_convertvector(value, WideVector);
  }
  double total() const {
    double all = 0;
    for (const WideVector& part : sum) {
      for (int lane = 0; lane < VECTOR_WIDTH; ++lane) all += part[lane];
    }
    return all;
  }
};

// Kahan (1965): `lost` is what the last addition rounded away. Not for -ffast-math, which removes it.
struct CompensatedSum {
  Vector sum[ACCUMULATORS] = {}, lost[ACCUMULATORS] = {};

  __attribute__((always_inline)) void add(int i, Vector value) {
    const Vector corrected = value - lost[i];
    const Vector next = sum[i] + corrected;
    lost[i] = (next - sum[i]) - corrected;
    sum[i] = next;
  }
  double total() const {
    double all = 0;
    for (int i = 0; i < ACCUMULATORS; ++i) {
      for (int lane = 0; lane < VECTOR_WIDTH; ++lane) all += double{sum[i][lane]} - double{lost[i][lane]};
    }
    return all;
  }
};

struct PlainSum {
  Vector sum[ACCUMULATORS] = {};

  __attribute__((always_inline)) void add(int i, Vector value) { sum[i] += value; }
  double total() const {
    double all = 0;
    for (const Vector& part : sum) {
      for (int lane = 0; lane < VECTOR_WIDTH; ++lane) all += double{part[lane]};
    }
    return all;
  }
};

// Adds `length` elements (whole steps) of each of STREAMS stretches that lie `distance` elements apart.
template <class Sum>
double sum_streams(const float* values, std::ptrdiff_t distance, std::ptrdiff_t length) {
  Sum sums[STREAMS];
#pragma GCC unroll unroll
  for (std::ptrdiff_t i = 0; i < length; i += step) {
#pragma GCC unroll 4
    for (int stream = 0; stream < STREAMS; ++stream) {
      const float* from = values + stream * distance + i;
      if (PREFETCH > 0) {
        for (int line = 0; line < step; line += 16) __builtin_prefetch(from + PREFETCH + line, 0, 0);
      }
#pragma GCC unroll 16
      for (int j = 0; j < ACCUMULATORS; ++j) {
        sums[stream].add(j, *reinterpret_cast<const LooseVector*>(from + j * VECTOR_WIDTH));
      }
    }
  }
  double all = 0;
  for (const Sum& sum : sums) all += sum.total();
  return all;
}

}  // namespace

extern "C" void reduction(std::int32_t n, const float* values, float* total) {
  const std::ptrdiff_t length = n / (step * STREAMS) * step;  // of a stream
  double result = 0;
#if METHOD == 0
  result = sum_streams<DoubleSum>(values, length, length);
#elif METHOD == 1
  result = sum_streams<CompensatedSum>(values, length, length);
#else
  constexpr std::ptrdiff_t block = BLOCK * step;
  for (std::ptrdiff_t begin = 0; begin < length; begin += block) {
    result += sum_streams<PlainSum>(values + begin, length, std::min(block, length - begin));
  }
#endif
  for (std::ptrdiff_t i = length * STREAMS; i < n; ++i) result += double{values[i]};
  *total = static_cast<float>(result);
}
