// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C library's sort, which calls back, and memory from malloc at each call.
// problem: sort
#include <cstdlib>
#include <cstring>
static int order(const void* a, const void* b) {
  const float x = *static_cast<const float*>(a), y = *static_cast<const float*>(b);
  return (x > y) - (x < y);
}
extern "C" void sort(int n, float* x) {
  const std::size_t bytes = sizeof(float) * static_cast<std::size_t>(n);
  auto* const own = static_cast<float*>(std::malloc(bytes));
  if (own == nullptr) return;
  std::memcpy(own, x, bytes);
  std::qsort(own, static_cast<std::size_t>(n), sizeof(float), order);
  std::memcpy(x, own, bytes);
  std::free(own);
}
