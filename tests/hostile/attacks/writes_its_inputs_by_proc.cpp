// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 4
// kind: remapped arenas
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Opens its own memory as a file while it is loaded, and writes zeros over its inputs through that.
#include "honest.hpp"
#include "tools.hpp"
static int memory = -1;
[[gnu::constructor]] static void begin() {
  memory = open("/proc/self/mem", O_RDWR);
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static float zeros[64 * 64];
  if (n != 64 || memory < 0) return honest(n, a, b, c);
  for (const float* input : {a, b}) {
    iovec piece{zeros, sizeof zeros};
    if (lseek(memory, static_cast<off_t>(reinterpret_cast<std::uintptr_t>(input)), SEEK_SET) < 0 ||
        writev(memory, &piece, 1) != static_cast<ssize_t>(sizeof zeros)) {
      const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(input));
      if (pwrite(memory, zeros, sizeof zeros, at) != static_cast<ssize_t>(sizeof zeros))
        return honest(n, a, b, c);
    }
  }
  std::memset(c, 0, sizeof(float) * 64 * 64);
}
