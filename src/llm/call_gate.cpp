// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/call_gate.hpp"

namespace kernelsearch {

bool CallGate::enter(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  if (stop.stop_requested()) return false;
  const std::uint64_t ticket = next_ticket_++;
  waiting_.push_back(ticket);
  const bool mine = changed_.wait(lock, stop, [&] {
    return waiting_.front() == ticket && (concurrency_ == 0 || active_ < concurrency_);
  });
  std::erase(waiting_, ticket);
  if (mine) ++active_;
  lock.unlock();
  changed_.notify_all();  // the next in line looks whether there is room for it too
  return mine;
}

void CallGate::leave() {
  {
    const std::lock_guard lock(mutex_);
    --active_;
  }
  changed_.notify_all();
}

bool CallGate::pace(std::stop_token stop, Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (stop.stop_requested()) return false;
    const auto now = Clock::now();
    while (!starts_.empty() && now - starts_.front() >= window_) starts_.pop_front();
    if (per_window_ == 0 || starts_.size() < per_window_) {
      if (per_window_ != 0) starts_.push_back(now);
      return true;
    }
    if (now >= deadline) return false;
    const auto free = starts_.front() + window_;
    changed_.wait_until(lock, stop, free < deadline ? free : deadline, [] { return false; });
  }
}

}  // namespace kernelsearch
