// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks whose sizes are template arguments, with a loop for what is left over.
// problem: matmul
template <int R, int C>
static void block(int m, int k, const float* a, const float* b, float* c) {
  float t[R][C] = {};
  for (int p = 0; p < k; ++p)
    for (int i = 0; i < R; ++i)
      for (int j = 0; j < C; ++j) t[i][j] += a[i * k + p] * b[p * m + j];
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) c[i * m + j] = t[i][j];
}
template <int R>
static void rows(int m, int k, const float* a, const float* b, float* c) {
  int j = 0;
  for (; j + 4 <= m; j += 4) block<R, 4>(m, k, a, b + j, c + j);
  for (; j < m; ++j) block<R, 1>(m, k, a, b + j, c + j);
}
extern "C" void matmul(int n, int m, int k, const float* a, const float* b, float* c) {
  int i = 0;
  for (; i + 4 <= n; i += 4) rows<4>(m, k, a + i * k, b, c + i * m);
  for (; i < n; ++i) rows<1>(m, k, a + i * k, b, c + i * m);
}
