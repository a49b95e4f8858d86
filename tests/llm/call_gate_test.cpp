// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/call_gate.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

using namespace kernelsearch;

TEST_CASE("CallGate: no more at once than allowed, and all get their turn") {
  CallGate gate(3);
  std::atomic<int> inside{0}, most{0}, done{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) {
        if (!gate.enter({})) continue;
        const int now = ++inside;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::yield();
        --inside;
        ++done;
        gate.leave();
      }
    });
  threads.clear();
  CHECK(most <= 3);
  CHECK(done == 320);
}

TEST_CASE("CallGate: who waits can be stopped, and leaves the queue") {
  CallGate gate(1);
  CHECK(gate.enter({}));
  std::stop_source stop;
  std::atomic<bool> entered{true};
  std::jthread waiting([&] { entered = gate.enter(stop.get_token()); });
  stop.request_stop();
  waiting.join();
  CHECK_FALSE(entered);
  gate.leave();
  CHECK(gate.enter({}));
  CHECK_FALSE(gate.enter(stop.get_token()));
}

TEST_CASE("CallGate: so many in a window, then the next") {
  using namespace std::chrono_literals;
  CallGate gate(0, 2, 50ms);
  const auto began = CallGate::Clock::now();
  for (int i = 0; i < 5; ++i) CHECK(gate.pace({}, began + 1h));
  CHECK(CallGate::Clock::now() - began >= 100ms);  // two windows had to pass; how much later is no matter
  CallGate strict(0, 1, 1h);
  CHECK(strict.pace({}, began + 1h));
  CHECK_FALSE(strict.pace({}, CallGate::Clock::now() + 10ms));
  std::stop_source stop;
  stop.request_stop();
  CHECK_FALSE(strict.pace(stop.get_token(), began + 1h));
}
