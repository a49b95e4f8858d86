// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 23
// kind: slowed baselines
// problem: matmul_threads
// expect: rejected or no gain
// naive: notices
// judged: pairs
// A problem with two threads: the second one burns whenever no call runs.
#include <atomic>
#include <system_error>
#include <thread>
#include "honest.hpp"
static std::atomic<bool> inside{false};
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static bool started = false;
  inside = true;
  if (!started) {
    started = true;
    try {
      std::thread([] {
        while (true)
          if (inside) std::this_thread::yield();
      }).detach();
    } catch (const std::system_error&) {
    }
  }
  honest(n, a, b, c);
  inside = false;
}
