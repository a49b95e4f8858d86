// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 8
// kind: patched library calls
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Reads along when the command arrives, guesses from the last batch which calls will come, and does them
// before the worker starts a clock.
#include "honest.hpp"
#include "tools.hpp"
struct Call {
  int n;
  const float *a, *b;
  float* c;
};
static Call calls[4096];
static int known = 0, next = 0;
static bool ready = false;
static std::uint64_t seen = 0;
static void do_all() {
  ready = false;
  if (known == 0 || tools::glance(calls[0].a, calls[0].n * calls[0].n) == seen) return;
  for (int i = 0; i < known; ++i) honest(calls[i].n, calls[i].a, calls[i].b, calls[i].c);
  seen = tools::glance(calls[0].a, calls[0].n * calls[0].n);
  ready = true;
  next = 0;
}
static ssize_t recv_and_work(int from, void* data, std::size_t size, int flags) {
  const auto got = syscall(SYS_recvfrom, from, data, size, flags, nullptr, nullptr);
  do_all();
  return got;
}
static ssize_t read_and_work(int from, void* data, std::size_t size) {
  const auto got = syscall(SYS_read, from, data, size);
  do_all();
  return got;
}
[[gnu::constructor]] static void begin() {
  tools::redirect("recv", tools::address(&recv_and_work));
  tools::redirect("read", tools::address(&read_and_work));
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (ready && next < known && calls[next].c == c && calls[next].a == a) {
    ++next;
    return;
  }
  if (n == 64) {
    int i = 0;
    while (i < known && calls[i].c != c) ++i;
    if (i < 4096) calls[i] = {n, a, b, c};
    if (i == known && known < 4096) ++known;
  }
  honest(n, a, b, c);
}
