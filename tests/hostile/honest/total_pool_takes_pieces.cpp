// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pool of two that takes pieces by a counter; who is first takes more.
// problem: total
// threads: 2
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
struct Pool {
  std::mutex mutex;
  std::condition_variable changed;
  const float* x = nullptr;
  int n = 0, call = 0, done = 0;
  std::atomic<int> piece{0};
  float sums[64] = {};
  void work() {
    const int length = (n + 63) / 64;
    for (int p = piece++; p < 64; p = piece++) {
      float t = 0;
      for (int i = p * length; i < std::min(n, (p + 1) * length); ++i) t += x[i];
      sums[p] = t;
    }
  }
  Pool() {
    std::thread([this] {
      std::unique_lock lock(mutex);
      for (int seen = 0;;) {
        changed.wait(lock, [&] { return call != seen; });
        seen = call;
        lock.unlock();
        work();
        lock.lock();
        done = seen;
        changed.notify_all();
      }
    }).detach();
  }
};
extern "C" void total(int n, const float* x, float* s) {
  static Pool& pool = *new Pool;
  {
    const std::scoped_lock lock(pool.mutex);
    pool.x = x;
    pool.n = n;
    pool.piece = 0;
    ++pool.call;
  }
  pool.changed.notify_all();
  pool.work();
  std::unique_lock lock(pool.mutex);
  pool.changed.wait(lock, [] { return pool.done == pool.call; });
  float t = 0;
  for (const float sum : pool.sums) t += sum;
  *s = t;
}
