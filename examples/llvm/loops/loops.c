// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Twelve loops on which compilers differ. Nothing in here knows of tuning.
#include <stddef.h>
#include <stdint.h>

// c += alpha a b, square, in the order in which rows of b and c are walked.
void gemm(int32_t n, float alpha, const float* restrict a, const float* restrict b, float* restrict c) {
  for (int32_t i = 0; i < n; ++i)
    for (int32_t k = 0; k < n; ++k) {
      const float scaled = alpha * a[i * n + k];
      for (int32_t j = 0; j < n; ++j) c[i * n + j] += scaled * b[k * n + j];
    }
}

// The mean of a cell and its four neighbours; the border stays.
void jacobi_2d(int32_t n, const float* restrict from, float* restrict to) {
  for (int32_t y = 1; y < n - 1; ++y)
    for (int32_t x = 1; x < n - 1; ++x) {
      const float* cell = from + (ptrdiff_t)y * n + x;
      to[(ptrdiff_t)y * n + x] = 0.2f * (cell[0] + cell[-1] + cell[1] + cell[-n] + cell[n]);
    }
}

// y += a' (a x): a sum of floats that must stay in its order, then an update.
void atax(int32_t n, const float* restrict a, const float* restrict x, float* restrict y) {
  for (int32_t i = 0; i < n; ++i) {
    const float* row = a + (ptrdiff_t)i * n;
    float product = 0;
    for (int32_t j = 0; j < n; ++j) product += row[j] * x[j];
    for (int32_t j = 0; j < n; ++j) y[j] += row[j] * product;
  }
}

// The sum of what lies above a limit: a branch, and floats added up as doubles.
void sum_above(int32_t n, float limit, const float* restrict values, double* restrict total) {
  double sum = 0;
  for (int32_t i = 0; i < n; ++i)
    if (values[i] > limit) sum += values[i];
  *total = sum;
}

// A sum of integers with two branches.
void signed_sum(int32_t n, int32_t limit, const int32_t* restrict values, const int32_t* restrict weights,
                int32_t* restrict total) {
  int32_t sum = 0;
  for (int32_t i = 0; i < n; ++i) {
    if (values[i] > limit)
      sum += values[i] * weights[i];
    else
      sum -= weights[i];
  }
  *total = sum;
}

// The dot product of bytes.
void dot_i8(int32_t n, const int8_t* restrict a, const int8_t* restrict b, int32_t* restrict total) {
  int32_t sum = 0;
  for (int32_t i = 0; i < n; ++i) sum += a[i] * b[i];
  *total = sum;
}

// Without restrict: the compiler must find out whether the arrays overlap.
void smooth_may_alias(int32_t n, float* to, const float* from, const float* shift) {
  for (int32_t i = 1; i < n - 1; ++i)
    to[i] = 0.25f * from[i - 1] + 0.5f * from[i] + 0.25f * from[i + 1] + shift[i];
}

// How many bytes are `wanted`.
void count_bytes(int32_t n, uint8_t wanted, const uint8_t* restrict bytes, int64_t* restrict count) {
  int64_t found = 0;
  for (int32_t i = 0; i < n; ++i) found += bytes[i] == wanted;
  *count = found;
}

// Loads by index from a table of 1024.
void gather(int32_t n, const int32_t* restrict index, const float* restrict table, float* restrict out) {
  for (int32_t i = 0; i < n; ++i) out[i] = 2.0f * table[index[i] & 1023] + 1.0f;
}

// Grey from red, green and blue bytes: loads with a stride of three.
void grey_stride3(int32_t n, const uint8_t* restrict rgb, uint8_t* restrict grey) {
  for (int32_t i = 0; i < n; ++i)
    grey[i] = (uint8_t)((77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8);
}

// The largest sum of a stretch: each turn needs the one before.
void largest_stretch(int32_t n, const int32_t* restrict values, int64_t* restrict largest) {
  int64_t here = 0;
  int64_t most = 0;
  for (int32_t i = 0; i < n; ++i) {
    here += values[i];
    if (here < 0) here = 0;
    if (here > most) most = here;
  }
  *largest = most;
}

// Rows of 4 to 23 of 32 elements: too few turns for wide vectors.
void short_rows(int32_t rows, const int32_t* restrict length, const float* restrict from, float* restrict to) {
  for (int32_t row = 0; row < rows; ++row)
    for (int32_t j = 0; j < length[row]; ++j) to[row * 32 + j] = 2.0f * from[row * 32 + j];
}
