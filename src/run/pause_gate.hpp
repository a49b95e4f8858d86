// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "kernelsearch/judge/measuring_lock.hpp"

namespace kernelsearch::detail {

/// Where the threads of a run stand while it is paused: before each proposal becomes a candidate, and before
/// each question to a model. Knows how long it was paused, which counts towards no budget.
class PauseGate {
 public:
  using Clock = std::chrono::steady_clock;

  void set(bool paused) {
    const std::lock_guard lock(mutex_);
    if (paused == paused_) return;
    if (paused)
      since_ = Clock::now();
    else
      before_ += Clock::now() - since_;
    paused_ = paused;
    changed_.notify_all();
  }

  [[nodiscard]] bool paused() const {
    const std::lock_guard lock(mutex_);
    return paused_;
  }

  /// How long it was paused until now, all pauses together.
  [[nodiscard]] Clock::duration total() const {
    const std::lock_guard lock(mutex_);
    return before_ + (paused_ ? Clock::now() - since_ : Clock::duration::zero());
  }
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(total()).count(); }

  /// Returns when the run is not paused, or is to stop.
  void pass(const std::stop_token& stop, const WaitTeller& tell) {
    std::unique_lock lock(mutex_);
    if (!paused_) return;
    lock.unlock();
    if (tell) tell("paused until it is told to go on");
    lock.lock();
    changed_.wait(lock, stop, [this] { return !paused_; });
    lock.unlock();
    if (tell) tell("");
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool paused_ = false;
  Clock::time_point since_{};
  Clock::duration before_{};
};

}  // namespace kernelsearch::detail
