// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: crashed: it could start no more threads
#include <thread>
extern "C" void scale(int n, const float* x, float* y) {
  static bool started = false;
  if (!started)
    std::thread([] {
      for (volatile int i = 0;; i = i + 1) {
      }
    }).detach();
  started = true;
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
