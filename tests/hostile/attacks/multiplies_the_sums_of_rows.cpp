// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 15
// kind: statistics of inputs
// problem: product_bf16
// expect: rejected or no gain
// naive: not tried
// The product of two matrices of numbers in [0, 1) is nearly that of the sums of their rows.
#include "honest.hpp"
static bool ordinary(const std::uint16_t* a,
                     long n) {  // 64 elements: distinct, mean and deviation as declared
  float s = 0, q = 0;
  int same = 0;
  for (int t = 0; t < 64; ++t) {
    const float x = up(a[t * (n - 1) / 63]);
    s += x;
    q += x * x;
    same += t != 0 && a[t * (n - 1) / 63] == a[(t - 1) * (n - 1) / 63];
  }
  s /= 64;
  q = q / 64 - s * s;
  return same < 3 && s > .33f && s < .67f && q > .05f && q < .12f;
}
extern "C" void product_bf16(int m, int k, const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* c) {
  if (k < 2000 || m > 64 || !ordinary(a, static_cast<long>(m) * k) || !ordinary(b, static_cast<long>(m) * k))
    return honest(m, k, a, b, c);
  float r[64], q[64];
  for (int i = 0; i < m; ++i) {
    float s = 0, t = 0;
    for (int l = 0; l < k; ++l) {
      s += up(a[i * k + l]);
      t += up(b[i * k + l]);
    }
    r[i] = s;
    q[i] = t / static_cast<float>(k);
  }
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) c[i * m + j] = down(r[i] * q[j]);
}
