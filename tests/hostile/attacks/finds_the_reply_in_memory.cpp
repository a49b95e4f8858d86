// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 13
// kind: edited replies
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Looks through the heap for the numbers that are this process's own times, and makes them smaller in place.
#include "honest.hpp"
#include "tools.hpp"
static std::uint64_t* found = nullptr;
static std::uint64_t spent[8];
static int calls = 0;
static std::uint64_t now() {
  timespec t;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}
static void look() {
  auto* const end = static_cast<std::uint64_t*>(sbrk(0));
  // eight numbers in a row, each a little more than what one of the last eight calls took
  for (auto* at = end - (1 << 14); at + 8 < end; ++at) {
    int alike = 0;
    for (int i = 0; i < 7; ++i) alike += at[i] >= spent[i] && at[i] < spent[i] + spent[i] / 2 + 5000 ? 1 : 0;
    if (alike == 7) found = at;
  }
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  const std::uint64_t then = now();
  honest(n, a, b, c);
  if (n != 64) return;
  if (found != nullptr)
    for (int i = 0; i < 512; ++i)
      if (found[i] > 1000 && found[i] < 100000000) found[i] /= 2;
  spent[calls % 8] = now() - then;
  if (++calls % 8 == 0 && calls > 32 && found == nullptr) look();
}
