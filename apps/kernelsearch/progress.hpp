// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <thread>

#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/report/progress_printer.hpp"
#include "kernelsearch/run/run_budget.hpp"
#include "kernelsearch/store/run_info.hpp"

namespace kernelsearch::app {

/// What stderr is and what the run expects.
[[nodiscard]] ProgressOptions progress_options(const RunBudget& budget,
                                               const std::optional<RunRow>& resumed);

/// The progress on stderr, redrawn while trials take their time; nothing at all when quiet.
class Progress {
 public:
  Progress(bool quiet, ProgressOptions options);
  ~Progress() { close(); }

  void on_start(TrialId id, const Candidate& candidate) {
    if (printer_) printer_->on_start(id, candidate);
  }
  void on_trial(const Trial<Candidate>& trial, const Config& config) {
    if (printer_) printer_->on_trial(trial, config);
  }
  void on_best(const Trial<Candidate>& trial) {
    if (printer_) printer_->on_best(trial);
  }
  void on_revised(const Trial<Candidate>& trial) {
    if (printer_) printer_->on_revised(trial);
  }

  /// Ends the drawing and leaves the terminal on a line of its own.
  void close();

 private:
  std::optional<ProgressPrinter> printer_;
  std::jthread ticker_;
};

}  // namespace kernelsearch::app
