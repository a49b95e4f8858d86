// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: crashed: set "threads" in the problem
#include <chrono>
#include <thread>
extern "C" void scale(int n, const float* x, float* y) {
  for (int i = 0; i < 10000; ++i)
    std::thread([] { std::this_thread::sleep_for(std::chrono::seconds(5)); }).detach();
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
