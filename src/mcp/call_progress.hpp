// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "kernelsearch/mcp/tool.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/run/run.hpp"

namespace kernelsearch::detail {

/// Tells whoever called a tool how far its step is.
class CallProgress final : public RunObserver {
 public:
  CallProgress(const ToolCall& call, const StepLimit& limit) : call_(call), limit_(limit) {}

  void on_trial(const Trial<Candidate>& trial) override {
    ++told_;
    const Outcome& outcome = trial.outcome;
    if (outcome.ok()) best_ = std::min(best_, outcome.objective);
    std::string text = fmt::format("trial {}: {}", number(outcome.id), to_string(outcome.evaluation.verdict));
    if (outcome.ok()) text += " " + format_seconds(outcome.objective);
    if (best_ < std::numeric_limits<double>::infinity())
      text += ", best of this step " + format_seconds(best_);
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
  double best_ = std::numeric_limits<double>::infinity();
  Clock::time_point begun_ = Clock::now();
};

}  // namespace kernelsearch::detail
