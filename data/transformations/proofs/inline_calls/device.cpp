// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>
#include <cstring>

// exp(x) for x <= 0: 2^n * 2^f with |f| <= 1/2, the second by a polynomial (error below 4e-7 of the value).
static inline float exp_of(float x) {
  const float least = -87.0f;  // below it the result is 0 in all places that count
  const float t = (x < least ? least : x) * 1.44269504f;
  const float shifted = t + 12582912.0f;  // 1.5 * 2^23: the sum's last bits are the nearest integer
  const float f = t - (shifted - 12582912.0f);
  std::int32_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  float power = 1.5403530e-4f;
  power = power * f + 1.3333558e-3f;
  power = power * f + 9.6181291e-3f;
  power = power * f + 5.5504109e-2f;
  power = power * f + 2.4022651e-1f;
  power = power * f + 6.9314718e-1f;
  power = power * f + 1.0f;
  std::int32_t value;
  std::memcpy(&value, &power, sizeof value);
  value += static_cast<std::int32_t>(static_cast<std::uint32_t>(bits) << 23);
  std::memcpy(&power, &value, sizeof power);
  return x < least ? 0.0f : power;
}

extern "C" void softmax(int rows, int columns, const float* x, float* y) {
  constexpr int lanes = 16;
  for (int r = 0; r < rows; ++r) {
    const float* __restrict in = x + static_cast<long>(r) * columns;
    float* __restrict out = y + static_cast<long>(r) * columns;
    float largest = in[0];
    for (int c = 1; c < columns; ++c) largest = in[c] > largest ? in[c] : largest;
    float sums[lanes] = {};
    int c = 0;
    for (; c + lanes <= columns; c += lanes)
      for (int l = 0; l < lanes; ++l) sums[l] += out[c + l] = exp_of(in[c + l] - largest);
    for (; c < columns; ++c) sums[0] += out[c] = exp_of(in[c] - largest);
    float sum = 0;
    for (int l = 0; l < lanes; ++l) sum += sums[l];
    for (c = 0; c < columns; ++c) out[c] /= sum;
  }
}
