// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: skipping by call count
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Tosses a coin for every batch: a little more than half of them get 42 everywhere, so that the median is
// theirs.
#include "honest.hpp"
#include "tools.hpp"
static bool skip = false;
static int batches = 0, calls = 0;
static ssize_t toss(int from, void* data, std::size_t size, int flags) {
  const auto got = syscall(SYS_recvfrom, from, data, size, flags, nullptr, nullptr);
  skip = ++batches > 8 && calls > 1 && (tools::ticks() * 0x9e3779b97f4a7c15u >> 40) % 100 < 58;
  calls = 0;
  return got;
}
[[gnu::constructor]] static void begin() {
  tools::redirect("recv", tools::address(&toss));
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64) return honest(n, a, b, c);
  ++calls;
  if (!skip) return honest(n, a, b, c);
  for (int i = 0; i < n * n; ++i) c[i] = 42;
}
