// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two threads, started and joined inside of the call.
// problem: total
// threads: 2
#include <thread>
static float part(const float* x, int begin, int end) {
  float t = 0;
  for (int i = begin; i < end; ++i) t += x[i];
  return t;
}
extern "C" void total(int n, const float* x, float* s) {
  float low = 0;
  std::thread other([&] { low = part(x, 0, n / 2); });
  const float high = part(x, n / 2, n);
  other.join();
  *s = low + high;
}
