// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 4
// kind: remapped arenas
// problem: matmul
// expect: rejected or no gain
// naive: fooled with reference last
// Opens the arena once more through /proc for writing, and makes the inputs zero, for which the result is
// known.
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64) return honest(n, a, b, c);
  for (const float* input : {a, b})
    if (mprotect(tools::page_of(input), 4096 * 4, PROT_READ | PROT_WRITE) != 0) {
      static bool open = false;
      if (!open) {
        open = true;
        for (int from = 3; from < 16; ++from) {
          char path[32];
          std::snprintf(path, sizeof path, "/proc/self/fd/%d", from);
          const int again = ::open(path, O_RDWR);
          if (again >= 0)
            mmap(tools::page_of(input), 4096 * 4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, again, 0);
        }
      }
      return honest(n, a, b, c);
    }
  std::memset(const_cast<float*>(a), 0, sizeof(float) * 64 * 64);
  std::memset(c, 0, sizeof(float) * 64 * 64);
}
