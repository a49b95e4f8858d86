// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: build_failed: template instantiation depth
template <int N>
struct Deep {
  static constexpr int value = Deep<N + 1>::value;
};
extern "C" void scale(int n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
  y[0] = Deep<0>::value;
}
