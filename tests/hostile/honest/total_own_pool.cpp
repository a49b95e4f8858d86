// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread of its own, started at the first call, that sleeps between the calls.
// problem: total
// threads: 2
#include <condition_variable>
#include <mutex>
#include <thread>
struct Pool {
  std::mutex mutex;
  std::condition_variable changed;
  const float *begin = nullptr, *end = nullptr;
  float result = 0;
  Pool() {
    std::thread([this] {
      std::unique_lock lock(mutex);
      while (true) {
        changed.wait(lock, [this] { return begin != nullptr; });
        float t = 0;
        for (const float* x = begin; x != end; ++x) t += *x;
        result = t;
        begin = nullptr;
        changed.notify_all();
      }
    }).detach();
  }
};
extern "C" void total(int n, const float* x, float* s) {
  static Pool& pool = *new Pool;
  {
    const std::scoped_lock lock(pool.mutex);
    pool.begin = x;
    pool.end = x + n / 2;
  }
  pool.changed.notify_all();
  float t = 0;
  for (int i = n / 2; i < n; ++i) t += x[i];
  std::unique_lock lock(pool.mutex);
  pool.changed.wait(lock, [] { return pool.begin == nullptr; });
  *s = t + pool.result;
}
