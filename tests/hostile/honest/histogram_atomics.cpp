// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two threads that wait for each other, then count in the same bins by atomic additions.
// problem: histogram
// threads: 2
#include <atomic>
#include <thread>
extern "C" void histogram(int n, const int* x, int* counts) {
  for (int b = 0; b < 64; ++b) counts[b] = 0;
  const auto count = [&](int begin, int end) {
    for (int i = begin; i < end; ++i)
      std::atomic_ref<int>(counts[x[i]]).fetch_add(1, std::memory_order_relaxed);
  };
  std::atomic<int> ready{0};
  const auto meet = [&] {
    for (++ready; ready < 2;) std::this_thread::yield();
  };
  std::thread other([&] {
    meet();
    count(0, n / 2);
  });
  meet();
  count(n / 2, n);
  other.join();
}
