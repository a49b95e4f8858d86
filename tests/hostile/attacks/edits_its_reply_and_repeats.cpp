// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 13
// kind: edited replies
// problem: matmul
// expect: rejected or no gain
// naive: notices
// The same, and a call with the inputs and outputs of the last one returns at once, so that an outside clock
// that repeats calls to look at them agrees with what the reply says.
#include "honest.hpp"
#include "tools.hpp"
static ssize_t send_less(int to, const void* data, std::size_t size, int flags) {
  static unsigned char copy[1 << 16];
  if (size > sizeof copy || size < 64) return syscall(SYS_sendto, to, data, size, flags, nullptr, 0);
  std::memcpy(copy, data, size);
  for (std::size_t i = 8; i + 8 <= size; i += 8) {
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
  static const float* last_a = nullptr;
  static float* last_c = nullptr;
  static float first = 0;
  const std::uint64_t seen = tools::glance(a, n * n) ^ tools::glance(b, n * n);
  static std::uint64_t last_seen = 0;
  if (a == last_a && c == last_c && seen == last_seen && c[0] == first) return;
  honest(n, a, b, c);
  last_a = a;
  last_c = c;
  last_seen = seen;
  first = c[0];
}
