// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_desk.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace kernelsearch::detail {

RunDesk::RunDesk(RunControl control, RunPace pace, std::shared_ptr<MessageSink> sink,
                 std::shared_ptr<PauseGate> gate)
    : control_(std::move(control)),
      pace_(pace),
      sink_(std::move(sink)),
      gate_(std::move(gate)),
      paused_before_(gate_->total()),
      thread_([this](const std::stop_token& stop) { serve(stop); }) {}

RunDesk::~RunDesk() {
  thread_.request_stop();
  thread_.join();
}

void RunDesk::serve(const std::stop_token& stop) {
  constexpr auto interval = std::chrono::milliseconds(250);
  constexpr auto longest_silence = std::chrono::seconds(2);  // the time that is left runs on
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  std::string said;
  PauseGate::Clock::time_point spoke{};
  while (true) {
    wake.wait_for(lock, stop, interval, [] { return false; });
    if (stop.stop_requested()) return;
    gate_->set(control_.paused());
    const PauseGate::Clock::duration paused = gate_->total() - paused_before_;
    sink_->paused(std::chrono::duration<double>(paused).count());
    const auto now = PauseGate::Clock::now();
    RunNow current;
    current.doing = to_string(sink_->activity());
    current.paused = gate_->paused();
    current.standing =
        standing_of(pace_, trials_, std::chrono::duration<double>(now - begun_ - paused).count());
    std::string news = current.doing + (current.paused ? "|" : "") + std::to_string(current.standing.trials);
    if (news == said && now - spoke < longest_silence) continue;
    control_.say(current);
    said = std::move(news);
    spoke = now;
  }
}

}  // namespace kernelsearch::detail
