// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = W x with W in four bits and a scale for each 32 elements of a row. The 16 bytes of a block become
// floats in one of three ways; ROWS rows are summed at once, so that x is read once for all of them.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::ptrdiff_t block = 32;

int signed_four(int bits) {
  return (bits ^ 8) - 8;
}

// METHOD 1: both elements of every byte.
constexpr std::array<std::array<float, 2>, 256> both = [] {
  std::array<std::array<float, 2>, 256> table{};
  for (int byte = 0; byte < 256; ++byte)
    table[static_cast<std::size_t>(byte)] = {static_cast<float>(((byte & 15) ^ 8) - 8),
                                             static_cast<float>(((byte >> 4) ^ 8) - 8)};
  return table;
}();

// METHOD 2: signed bytes of LANES elements, as floats.
typedef std::int8_t Bytes __attribute__((vector_size(LANES)));
typedef float Floats __attribute__((vector_size(4 * LANES)));

// A block's sum before it is scaled.
float sum_of_block(const std::uint8_t* packed, const float* x) {
#if METHOD == 2
  std::int8_t whole[block];
  for (std::ptrdiff_t i = 0; i < block / 2; ++i) {
    whole[2 * i] = static_cast<std::int8_t>(static_cast<std::int8_t>(packed[i] << 4) >> 4);
    whole[2 * i + 1] = static_cast<std::int8_t>(static_cast<std::int8_t>(packed[i]) >> 4);
  }
  Floats sum = {};
  for (std::ptrdiff_t i = 0; i < block; i += LANES) {
    Bytes bytes;
    Floats values;
    std::memcpy(&bytes, whole + i, sizeof bytes);
    std::memcpy(&values, x + i, sizeof values);
    sum += __builtin_convertvector(bytes, Floats) * values;
  }
  float all = 0;
  for (int lane = 0; lane < LANES; ++lane) all += sum[lane];
  return all;
#else
  float even = 0, odd = 0;
  for (std::ptrdiff_t i = 0; i < block / 2; ++i) {
#  if METHOD == 1
    even += both[packed[i]][0] * x[2 * i];
    odd += both[packed[i]][1] * x[2 * i + 1];
#  else
    even += static_cast<float>(signed_four(packed[i] & 15)) * x[2 * i];
    odd += static_cast<float>(signed_four(packed[i] >> 4)) * x[2 * i + 1];
#  endif
  }
  return even + odd;
#endif
}

// Rows from `row` on.
template <int rows>
void multiply(std::ptrdiff_t row, std::ptrdiff_t k, const std::uint8_t* weights, const float* scales,
              const float* x, float* y) {
  float sums[rows] = {};
  for (std::ptrdiff_t i = 0; i < k; i += block)
    for (int r = 0; r < rows; ++r) {
      const std::ptrdiff_t element = (row + r) * k + i;
      sums[r] += scales[element / block] * sum_of_block(weights + element / 2, x + i);
    }
  for (int r = 0; r < rows; ++r) y[row + r] = sums[r];
}

}  // namespace

extern "C" void matvec(std::int32_t n, std::int32_t k, const std::uint8_t* weights, const float* scales,
                       const float* x, float* y) {
  std::ptrdiff_t row = 0;
  for (; row + ROWS <= n; row += ROWS) multiply<ROWS>(row, k, weights, scales, x, y);
  for (; row < n; ++row) multiply<1>(row, k, weights, scales, x, y);
}
