// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>

namespace kernelsearch {

/// Limits calls: how many at once, and how many in any minute. First come, first served.
class CallGate {
 public:
  using Clock = std::chrono::steady_clock;

  /// 0: no limit. `window` is the minute, shorter in tests.
  explicit CallGate(std::uint32_t concurrency, std::uint32_t per_window = 0,
                    Clock::duration window = std::chrono::minutes(1))
      : concurrency_(concurrency), per_window_(per_window), window_(window) {}

  /// Waits for a turn; false: stopped. Each turn must be given back by `leave`.
  [[nodiscard]] bool enter(std::stop_token stop);
  void leave();
  /// Waits until one more request may start, and counts it; false: stopped, or `deadline` came first.
  [[nodiscard]] bool pace(std::stop_token stop, Clock::time_point deadline);

 private:
  std::uint32_t concurrency_, per_window_;
  Clock::duration window_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t next_ticket_ = 0;
  std::deque<std::uint64_t> waiting_;
  std::uint32_t active_ = 0;
  std::deque<Clock::time_point> starts_;
};

}  // namespace kernelsearch
