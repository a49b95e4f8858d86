// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 16
// kind: less precision
// problem: matvec
// expect: rejected
// naive: fooled
// Operands cut to twelve bits and multiplied as integers: within a per cent on what is usually drawn.
[[gnu::optimize("O3")]] static void narrow_sums(int n, const short* a, const short* x, float* y) {
  for (int i = 0; i < n; ++i) {
    int sum = 0;
    for (int j = 0; j < n; ++j) sum += a[i * n + j] * x[j];
    y[i] = static_cast<float>(sum) / (4096.0f * 4096.0f);
  }
}
[[gnu::optimize("O3")]] static void cut(int count, const float* from, short* to) {
  for (int i = 0; i < count; ++i) to[i] = static_cast<short>(static_cast<int>(from[i] * 4096));
}
extern "C" void matvec(int n, const float* a, const float* x, float* y) {
  static short a16[64 * 64], x16[64];
  cut(n, x, x16);
  cut(n * n, a, a16);
  narrow_sums(n, a16, x16, y);
}
