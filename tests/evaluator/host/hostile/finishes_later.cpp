// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: crashed: it could start no more threads
// Returns at once; a thread does the work afterwards.
#include <chrono>
#include <thread>
extern "C" void scale(int n, const float* x, float* y) {
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
  }).detach();
}
