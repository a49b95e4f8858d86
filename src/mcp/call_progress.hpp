// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "kernelsearch/core/shown_verdict.hpp"
#include "kernelsearch/mcp/tool.hpp"
#include "kernelsearch/report/front.hpp"
#include "kernelsearch/run/run.hpp"

namespace kernelsearch::detail {

/// Tells the one who called a tool how far its step is.
class CallProgress final : public RunObserver {
 public:
  CallProgress(const ToolCall& call, const StepLimit& limit, Objectives objectives = {})
      : call_(call), limit_(limit), objectives_(std::move(objectives)) {}

  void on_trial(const Trial<Candidate>& trial) override {
    ++told_;
    const Outcome& outcome = trial.outcome;
    std::string text = fmt::format("trial {}: {}", number(outcome.id),
                                   shown_verdict(outcome.evaluation.verdict, outcome.evaluation.overrun));
    if (outcome.ok()) {
      const std::string value = format_objectives(objectives_, outcome);
      text += " " + value;
      if (outcome.objective < best_) {
        best_ = outcome.objective;
        best_text_ = objectives_.only_time() ? value : fmt::format("trial {}", number(outcome.id));
      }
    }
    if (!best_text_.empty()) text += ", best of this step " + best_text_;
    on_message(text);
  }
  void on_message(std::string_view text) override {
    const double gone = std::chrono::duration<double>(Clock::now() - begun_).count();
    if (limit_.trials)
      call_.progress(static_cast<double>(told_), static_cast<double>(*limit_.trials), text);
    else if (limit_.seconds)
      call_.progress(gone, std::max(gone, *limit_.seconds), text);
    else
      call_.progress(static_cast<double>(told_), std::nullopt, text);
  }

 private:
  using Clock = std::chrono::steady_clock;

  const ToolCall& call_;
  StepLimit limit_;
  std::uint64_t told_ = 0;
  Objectives objectives_;
  double best_ = std::numeric_limits<double>::infinity();
  std::string best_text_;  ///< empty before a right trial
  Clock::time_point begun_ = Clock::now();
};

/// Tells the caller of a tool, once a second, that work goes on which is one piece: how long it has taken.
class CallClock final : public RunObserver {
 public:
  CallClock(const ToolCall& call, std::string what)
      : call_(call), what_(std::move(what)), thread_([this](const std::stop_token& end) { tick(end); }) {}

  void on_message(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    said_ = text;
    tell();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void tick(const std::stop_token& end) {
    std::unique_lock lock(mutex_);
    while (!end.stop_requested()) {
      tell();
      ended_.wait_for(lock, end, std::chrono::seconds(1), [] { return false; });
    }
  }
  void tell() {
    const double gone = std::chrono::duration<double>(Clock::now() - begun_).count();
    call_.progress(gone, std::nullopt,
                   fmt::format("{}, {:.0f} s{}{}", what_, gone, said_.empty() ? "" : ": ", said_));
  }

  const ToolCall& call_;
  std::string what_;
  std::string said_;
  Clock::time_point begun_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;  ///< last: it uses the others
};

}  // namespace kernelsearch::detail
