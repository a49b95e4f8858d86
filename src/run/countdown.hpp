// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "pause_gate.hpp"

namespace kernelsearch::detail {

/// Asks to stop at a moment, which may be moved, and moves by itself while the run is paused; gone before it,
/// it does nothing.
class Countdown {
 public:
  using Clock = std::chrono::steady_clock;

  Countdown(std::stop_source stop, Clock::time_point end, std::shared_ptr<const PauseGate> gate)
      : stop_(std::move(stop)),
        end_(end),
        gate_(std::move(gate)),
        paused_before_(gate_->total()),
        thread_([this](const std::stop_token& gone) { wait(gone); }) {}

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
    while (!gone.stop_requested()) {
      const Clock::time_point set = end_;
      // time_point::max() would overflow when it is turned into the clock of the system.
      if (set == Clock::time_point::max()) {
        changed_.wait(lock, gone, [&] { return end_ != set; });
        continue;
      }
      const Clock::time_point until = set + (gate_->total() - paused_before_), now = Clock::now();
      if (now >= until) break;
      // While it is paused the end recedes as fast as time passes.
      const auto again = gate_->paused() ? std::max(until, now + std::chrono::milliseconds(50)) : until;
      changed_.wait_until(lock, gone, again, [&] { return end_ != set; });
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
  std::shared_ptr<const PauseGate> gate_;
  Clock::duration paused_before_;
  std::atomic<bool> over_{false};
  std::jthread thread_;
};

}  // namespace kernelsearch::detail
