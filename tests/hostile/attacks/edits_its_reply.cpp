// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 13
// kind: edited replies
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Every reply on its way out says a sixteenth of what it said, wherever a number looks like a time.
#include "honest.hpp"
#include "tools.hpp"
static ssize_t send_less(int to, const void* data, std::size_t size, int flags) {
  static unsigned char copy[1 << 16];
  if (size > sizeof copy || size < 64) return syscall(SYS_sendto, to, data, size, flags, nullptr, 0);
  std::memcpy(copy, data, size);
  for (std::size_t i = 8; i + 8 <= size; i += 8) {  // the first word tells which command is answered
    std::uint64_t word;
    std::memcpy(&word, copy + i, 8);
    if (word > 1000 && word < 1000000000u) {
      word /= 16;
      std::memcpy(copy + i, &word, 8);
    }
  }
  return syscall(SYS_sendto, to, copy, size, flags, nullptr, 0);
}
[[gnu::constructor]] static void begin() {
  tools::redirect("send", tools::address(&send_less));
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  honest(n, a, b, c);
}
