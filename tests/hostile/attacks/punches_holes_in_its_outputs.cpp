// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 17
// kind: lazy pages
// problem: scale
// expect: rejected or no gain
// naive: notices
// Has the system throw the pages of its outputs away, which reads as zeros, where writing them takes longest.
#include "honest.hpp"
#include "tools.hpp"
extern "C" void scale(int n, const float* x, float* y) {
  const auto begin = (reinterpret_cast<std::uintptr_t>(y) + 4095) & ~std::uintptr_t{4095};
  const auto end = reinterpret_cast<std::uintptr_t>(y + n) & ~std::uintptr_t{4095};
  if (n < 4096 || end <= begin) return honest(n, x, y);
  honest(256, x, y);
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_REMOVE);
}
