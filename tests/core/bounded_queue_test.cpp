// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/bounded_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

using namespace kernelsearch;

TEST_CASE("BoundedQueue: first in, first out, also for what can only be moved") {
  BoundedQueue<std::unique_ptr<int>> queue(3);
  for (int i = 0; i < 3; ++i) CHECK(queue.push(std::make_unique<int>(i)));
  for (int i = 0; i < 3; ++i) CHECK(**queue.pop() == i);
}

TEST_CASE("BoundedQueue: closed, it takes nothing more, gives what it has, then nothing") {
  BoundedQueue<int> queue(3);
  queue.push(1);
  queue.push(2);
  queue.close();
  CHECK_FALSE(queue.push(3));
  CHECK(queue.pop() == 1);
  CHECK(queue.pop() == 2);
  CHECK_FALSE(queue.pop().has_value());
}

TEST_CASE("BoundedQueue: never holds more than its capacity and loses nothing") {
  BoundedQueue<int> queue(2);
  std::atomic<int> pushed{0}, popped{0}, most{0};
  std::vector<int> got;
  {
    std::jthread writer([&] {
      for (int i = 0; i < 1000; ++i) {
        queue.push(i);
        const int held = ++pushed - popped;
        int seen = most;
        while (seen < held && !most.compare_exchange_weak(seen, held)) {
        }
      }
      queue.close();
    });
    while (const auto item = queue.pop()) {
      got.push_back(*item);
      ++popped;
    }
  }
  CHECK(got.size() == 1000);
  CHECK(std::is_sorted(got.begin(), got.end()));
  CHECK(most <= 3);  // one more may have left the queue without being counted
}

TEST_CASE("BoundedQueue: closing lets those go who wait for room and those who wait for items") {
  BoundedQueue<int> full(1), empty(1);
  full.push(0);
  std::atomic<bool> refused{false}, ended{false};
  {
    std::jthread writer([&] { refused = !full.push(1); });
    std::jthread reader([&] { ended = !empty.pop().has_value(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK_FALSE(refused);
    CHECK_FALSE(ended);
    full.close();
    empty.close();
  }
  CHECK(refused);
  CHECK(ended);
}
