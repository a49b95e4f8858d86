// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string_view>
#include <thread>

#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/report/progress_printer.hpp"
#include "kernelsearch/run/run_budget.hpp"
#include "kernelsearch/run/run_observer.hpp"
#include "kernelsearch/store/run_info.hpp"

namespace kernelsearch::app {

/// What stderr is and what the run expects.
[[nodiscard]] ProgressOptions progress_options(const RunBudget& budget, const std::optional<RunRow>& resumed);

/// Messages of a run on stderr; nothing at all when quiet.
class Messages final : public RunObserver {
 public:
  explicit Messages(bool quiet) : quiet_(quiet) {}
  void on_message(std::string_view text) override;

 private:
  bool quiet_;
};

/// The progress on stderr, redrawn while trials take their time, and messages; nothing at all when quiet.
class Progress final : public RunObserver {
 public:
  Progress(bool quiet, ProgressOptions options);
  ~Progress() override { close(); }

  void on_start(TrialId id, const Candidate& candidate) override {
    if (printer_) printer_->on_start(id, candidate);
  }
  void on_trial(const Trial<Candidate>& trial) override {
    if (printer_) printer_->on_trial(trial, 0);
  }
  void on_best(const Trial<Candidate>& trial) override {
    if (printer_) printer_->on_best(trial);
  }
  void on_revised(const Trial<Candidate>& trial) override {
    if (printer_) printer_->on_revised(trial);
  }
  void on_message(std::string_view text) override { messages_.on_message(text); }
  void on_activity(const RunActivity& activity) override {
    if (printer_) printer_->activity(to_string(activity), activity.waiting, activity.measuring);
  }

  /// Ends the drawing and leaves the terminal on a line of its own.
  void close();

 private:
  Messages messages_;
  std::optional<ProgressPrinter> printer_;
  std::jthread ticker_;
};

}  // namespace kernelsearch::app
