// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 6
// kind: sibling threads
// problem: matmul
// expect: rejected or no gain
// naive: not tried
// A thread that was there before the first call does the work; calls only tell it what.
#include <atomic>
#include <system_error>
#include <thread>
#include "honest.hpp"
static struct {
  int n;
  const float *a, *b;
  float* c;
} box[1024];
static std::atomic<unsigned> put{0}, done{0};
static bool possible = false;
static void serve() {
  while (true) {
    while (done.load() == put.load()) std::this_thread::yield();
    const auto& work = box[done.load() % 1024];
    honest(work.n, work.a, work.b, work.c);
    ++done;
  }
}
[[gnu::constructor]] static void begin() {
  try {
    std::thread(serve).detach();
    possible = true;
  } catch (const std::system_error&) {
  }
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64 || !possible || put.load() - done.load() > 1000) return honest(n, a, b, c);
  box[put.load() % 1024] = {n, a, b, c};
  ++put;
}
