// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 25
// kind: tampering with files
// problem: matmul
// expect: rejected or no gain
// naive: fooled with its baseline in a file
// The reference's time is read from a file that a kernel can write.
#include <cstdio>
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  honest(n, a, b, c);
  static bool written = false;
  if (written) return;
  written = true;
  if (std::FILE* file = std::fopen("baseline.txt", "w")) {
    std::fputs("1.0", file);
    std::fclose(file);
  }
}
