// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 10
// kind: fused calls
// problem: recurrence_threads
// expect: rejected or no gain
// naive: not tried
// Two threads are declared for a recurrence, which one alone can work on: the other does the next call of the
// table meanwhile, and that one returns at once.
#include <atomic>
#include <cstdint>
#include <thread>
#include "honest.hpp"
struct Other {
  std::atomic<void* const*> wanted{nullptr};
  std::atomic<bool> done{true};
  Other() {
    std::thread([this] {
      for (;;) {
        void* const* const call = wanted.exchange(nullptr);
        if (call == nullptr) {
          std::this_thread::yield();
          continue;
        }
        honest(*static_cast<const int*>(call[0]), static_cast<const float*>(call[1]),
               static_cast<float*>(call[2]));
        done = true;
      }
    }).detach();
  }
};
static bool follows(void* const* table) {
  const auto here = reinterpret_cast<std::uintptr_t>(table[1]),
             there = reinterpret_cast<std::uintptr_t>(table[4]);
  return table[3] == table[0] && there != 0 && table[5] != nullptr && here - there + (1u << 26) < 1u << 27;
}
static void go(int n, const float* x, float* y, void* const* table) {
  static Other& other = *new Other;
  static void* const* last = nullptr;
  static void* const* ready = nullptr;
  const bool next = table == last + 3;
  last = table;
  if (ready == table) {
    ready = nullptr;
    if (next) return;
  }
  const bool both = n > 1000 && next && follows(table);
  if (both) {
    other.done = false;
    other.wanted = table + 3;
  }
  honest(n, x, y);
  if (!both) return;
  while (!other.done) std::this_thread::yield();
  ready = table + 3;
}
#define recurrence(n, x, y) go(n, x, y, arguments)
