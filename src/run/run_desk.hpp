// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <thread>

#include "kernelsearch/report/run_pace.hpp"
#include "kernelsearch/run/run_control.hpp"
#include "message_sink.hpp"
#include "pause_gate.hpp"

namespace kernelsearch::detail {

/// Speaks for a run while a call drives it, by a thread of its own: says what the run does, and lets it pause
/// and go on as others ask.
class RunDesk {
 public:
  RunDesk(RunControl control, RunPace pace, std::shared_ptr<MessageSink> sink,
          std::shared_ptr<PauseGate> gate);
  ~RunDesk();
  RunDesk(const RunDesk&) = delete;
  RunDesk& operator=(const RunDesk&) = delete;

  /// A trial of this call was told.
  void count() noexcept { ++trials_; }

 private:
  void serve(const std::stop_token& stop);

  RunControl control_;
  RunPace pace_;
  std::shared_ptr<MessageSink> sink_;
  std::shared_ptr<PauseGate> gate_;
  std::atomic<std::uint64_t> trials_{0};
  PauseGate::Clock::time_point begun_ = PauseGate::Clock::now();
  PauseGate::Clock::duration paused_before_;
  std::jthread thread_;
};

}  // namespace kernelsearch::detail
