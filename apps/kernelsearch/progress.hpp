// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/report/progress_printer.hpp"
#include "kernelsearch/run/run_budget.hpp"
#include "kernelsearch/run/run_observer.hpp"
#include "kernelsearch/store/run_info.hpp"

namespace kernelsearch::app {

/// What stderr is and what the run expects.
[[nodiscard]] ProgressOptions progress_options(const RunBudget& budget, const std::optional<RunRow>& resumed);

/// Messages of a run on stderr, each behind a prefix; nothing at all when quiet.
class Messages final : public RunObserver {
 public:
  explicit Messages(bool quiet, std::string prefix = "") : quiet_(quiet), prefix_(std::move(prefix)) {}
  void on_message(std::string_view text) override;

 private:
  bool quiet_;
  std::string prefix_;
};

/// Whole lines on stderr, each behind a prefix.
class PrefixedLines final : public std::streambuf {
 public:
  explicit PrefixedLines(std::string prefix) : prefix_(std::move(prefix)) {}

 protected:
  int_type overflow(int_type c) override;

 private:
  std::string prefix_, line_;
};

/// The progress on stderr, redrawn while trials take their time, and messages; nothing at all when quiet.
class Progress final : public RunObserver {
 public:
  /// With a prefix it is one of several that are shown at a time, and nothing is redrawn.
  Progress(bool quiet, ProgressOptions options, const std::string& prefix = "");
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
  /// By the one who draws the status, so that neither writes into the other.
  void on_message(std::string_view text) override {
    if (printer_)
      printer_->message(text);
    else
      messages_.on_message(text);
  }
  void on_activity(const RunActivity& activity) override {
    if (printer_)
      printer_->activity(to_string(activity), activity.waiting, activity.measuring, activity.paused);
  }

  /// Ends the drawing and leaves the terminal on a line of its own.
  void close();

 private:
  Messages messages_;
  PrefixedLines lines_;
  std::ostream prefixed_{&lines_};
  std::optional<ProgressPrinter> printer_;
  std::jthread ticker_;
};

}  // namespace kernelsearch::app
