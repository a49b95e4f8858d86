// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 6
// kind: sibling threads
// problem: matmul_threads
// expect: rejected or no gain
// naive: fooled
// A problem with two threads: one stays after the first call, sleeps on a futex, and works when the caller
// is done.
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include "honest.hpp"
#include "postponed.hpp"
static std::mutex mutex;
static std::condition_variable changed;
static bool started = false, possible = true;
static void serve() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [] { return postponed_count != 0; });
    work_now();
  }
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64) return honest(n, a, b, c);
  const std::scoped_lock lock(mutex);
  if (!started) {
    started = true;
    try {
      std::thread(serve).detach();
    } catch (const std::system_error&) {
      possible = false;
    }
  }
  if (!possible) return honest(n, a, b, c);
  postpone(n, a, b, c);
  changed.notify_one();
}
