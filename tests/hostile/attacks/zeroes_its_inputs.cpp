// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 4
// kind: changed inputs
// problem: matmul
// expect: rejected
// naive: fooled with reference last
// Zeros in, zeros out: the reference agrees, where it gets the same arrays afterwards.
#include <cstring>
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  std::memset(const_cast<float*>(a), 0,
              sizeof(float) * static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  std::memset(c, 0, sizeof(float) * static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
}
