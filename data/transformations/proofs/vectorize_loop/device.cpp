// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Eight floats; loaded as bytes, since places along a row need not be aligned.
typedef float Vector __attribute__((vector_size(32)));
static inline Vector load(const float* from) {
  Vector v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

extern "C" void dot(int n, const float* __restrict a, const float* __restrict b, float* __restrict total) {
  Vector totals = {};
  int i = 0;
  for (; i + 8 <= n; i += 8) totals += load(a + i) * load(b + i);
  float sum = 0;
  for (int e = 0; e < 8; ++e) sum += totals[e];
  for (; i < n; ++i) sum += a[i] * b[i];
  *total = sum;
}
