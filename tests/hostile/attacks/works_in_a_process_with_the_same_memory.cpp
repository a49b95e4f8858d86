// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 6
// kind: sibling threads
// problem: matmul
// expect: rejected or no gain
// naive: not tried
// clone with shared memory, as a process of its own: no thread of this one, and not frozen with it. It would
// live on in the memory of a test that calls it, and answers late where others compute.
#include <sched.h>
#include <atomic>
#include "honest.hpp"
#include "tools.hpp"
static struct {
  int n;
  const float *a, *b;
  float* c;
} box[1024];
static std::atomic<unsigned> put{0}, done{0};
static bool possible = false;
static int serve(void*) {
  while (true) {
    while (done.load() == put.load()) syscall(SYS_sched_yield);
    const auto& work = box[done.load() % 1024];
    honest(work.n, work.a, work.b, work.c);
    ++done;
  }
}
[[gnu::constructor]] static void begin() {
  static char stack[1 << 16];
  possible = clone(serve, stack + sizeof stack - 64, CLONE_VM | CLONE_FILES | CLONE_FS, nullptr) > 0;
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64 || !possible || put.load() - done.load() > 1000) return honest(n, a, b, c);
  box[put.load() % 1024] = {n, a, b, c};
  ++put;
}
