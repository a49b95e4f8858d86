// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace kernelsearch::detail {

/// Asks to stop at a moment, which may be moved; gone before it, it does nothing.
class Countdown {
 public:
  using Clock = std::chrono::steady_clock;

  Countdown(std::stop_source stop, Clock::time_point end)
      : stop_(std::move(stop)), end_(end), thread_([this](const std::stop_token& gone) { wait(gone); }) {}

  void move(Clock::time_point end) {
    const std::lock_guard lock(mutex_);
    end_ = end;
    changed_.notify_all();
  }

  /// Whether it has asked.
  [[nodiscard]] bool over() const noexcept { return over_; }

 private:
  void wait(const std::stop_token& gone) {
    std::unique_lock lock(mutex_);
    while (!gone.stop_requested() && Clock::now() < end_) {
      const Clock::time_point until = end_;
      // time_point::max() would overflow when it is turned into the clock of the system.
      if (until == Clock::time_point::max())
        changed_.wait(lock, gone, [&] { return end_ != until; });
      else
        changed_.wait_until(lock, gone, until, [&] { return end_ != until; });
    }
    if (gone.stop_requested()) return;
    over_ = true;
    lock.unlock();
    stop_.request_stop();
  }

  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Clock::time_point end_;
  std::atomic<bool> over_{false};
  std::jthread thread_;
};

}  // namespace kernelsearch::detail
