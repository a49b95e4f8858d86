// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
typedef float Vector __attribute__((vector_size(32)));
static inline Vector load(const float* from) {
  Vector v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

// ROWS rows by 16 columns of C at a time: what is loaded of B serves all rows, and sums stay in registers over K.
template <int ROWS>
static inline void block(int m, int k, const float* a, const float* b, float* c) {
  int j = 0;
  for (; j + 16 <= m; j += 16) {
    Vector sums[ROWS][2] = {};
    for (int l = 0; l < k; ++l) {
      const Vector b0 = load(b + l * m + j), b1 = load(b + l * m + j + 8);
#pragma GCC unroll 8
      for (int r = 0; r < ROWS; ++r) {
        sums[r][0] += a[r * k + l] * b0;
        sums[r][1] += a[r * k + l] * b1;
      }
    }
    for (int r = 0; r < ROWS; ++r) __builtin_memcpy(c + r * m + j, sums[r], sizeof sums[r]);
  }
  for (; j < m; ++j)
    for (int r = 0; r < ROWS; ++r) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += a[r * k + l] * b[l * m + j];
      c[r * m + j] = sum;
    }
}

extern "C" void matmul(int n, int m, int k, const float* a, const float* b, float* c) {
  int i = 0;
  for (; i + ROW_BLOCK <= n; i += ROW_BLOCK) block<ROW_BLOCK>(m, k, a + i * k, b, c + i * m);
  for (; i < n; ++i) block<1>(m, k, a + i * k, b, c + i * m);
}
