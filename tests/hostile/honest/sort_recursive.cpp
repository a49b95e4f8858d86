// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A merge sort that calls itself.
// problem: sort
#include <algorithm>
#include <vector>
static void merge_sort(float* x, float* other, int n) {
  if (n < 2) return;
  const int half = n / 2;
  merge_sort(x, other, half);
  merge_sort(x + half, other, n - half);
  std::merge(x, x + half, x + half, x + n, other);
  std::copy(other, other + n, x);
}
extern "C" void sort(int n, float* x) {
  std::vector<float> other(static_cast<std::size_t>(n));
  merge_sort(x, other.data(), n);
}
