// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernelsearch/core/history.hpp"
#include "kernelsearch/core/verdict.hpp"
#include "kernelsearch/report/failures.hpp"
#include "kernelsearch/report/run_pace.hpp"

namespace kernelsearch {

struct ProgressOptions {
  bool terminal = false;  ///< one line that is drawn again and again; otherwise plain lines
  int columns = 100;      ///< of the terminal
  bool unicode = false;   ///< it shows characters beyond ASCII: a sparkline of the best so far
  bool colour = false;    ///< it shows colours, and its user wants them
  RunPace pace = {};      ///< for the bar and the time left
  std::optional<double> best_before = {};  ///< seconds: of the best that a resumed run has already
  std::size_t devices = 1;
  bool each_failure = false;    ///< every failed trial has a line, as where a model wrote each of the kernels
  double redraw_seconds = 0.1;  ///< at most so often on a terminal
  double line_seconds = 10.0;   ///< a plain status line at most so often
  /// Seconds since any moment; the steady clock when empty.
  std::function<double()> clock = nullptr;
};

/// An observer that shows a run as it goes: bar, time gone and left, trials, best with its speedup and
/// interval, verdict counts, devices busy. It is the only writer of its stream while it lives: what else is
/// to be said goes through `message`. The first failure of each kind has a line of its own, ten kinds at
/// most, or every failure has. What turned out not to apply has a line but no count. Without a terminal it
/// writes a line for each gain and now and then a status line. Every function may be called from any thread;
/// `tick` redraws between events, so that the time shown keeps running while a long trial is measured.
class ProgressPrinter {
 public:
  explicit ProgressPrinter(std::ostream& out, ProgressOptions options = {});
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;
  ~ProgressPrinter();  ///< leaves the terminal's cursor on a line of its own

  template <class Candidate>
  void on_start(TrialId, const Candidate&) {
    started();
  }
  template <class Candidate, class Proposal>
  void on_trial(const Trial<Candidate>& trial, const Proposal&) {
    told(trial.outcome, trial.candidate.has_value());
  }
  template <class Candidate>
  void on_best(const Trial<Candidate>& trial) {
    best(trial.outcome);
  }
  template <class Candidate>
  void on_revised(const Trial<Candidate>& trial) {
    revised(trial.outcome);
  }
  void on_end(std::string_view reason);
  /// What the run is doing or waits for, in a few words; a new reason to wait is a line of its own where
  /// there is no terminal. `measuring` is how many devices are busy; where that is not said, those with a
  /// trial under way count. `paused`: the seconds until now in which nobody let the run go on.
  void activity(std::string_view doing, std::string_view waiting,
                std::optional<std::size_t> measuring = std::nullopt, double paused = 0.0);

  /// Words of the run, on a line of their own above the status, which is drawn again below them.
  void message(std::string_view text);
  /// The terminal is this wide now.
  void resize(int columns);

  void tick();

  /// The status as one line, without the terminal's control characters.
  [[nodiscard]] std::string status() const;

 private:
  void started();
  void told(const Outcome& outcome, bool had_candidate);
  void best(const Outcome& outcome);
  void revised(const Outcome& outcome);
  [[nodiscard]] double elapsed() const;
  [[nodiscard]] std::string status_line() const;
  void show_failure(const Outcome& outcome);
  void show_line(const std::string& line, std::string_view colour = {});
  void show(bool now);
  [[nodiscard]] std::string coloured(std::string line) const;

  std::ostream& out_;
  ProgressOptions options_;
  mutable std::mutex mutex_;
  double begun_;
  double shown_;
  std::uint64_t trials_ = 0;
  std::size_t in_flight_ = 0;
  std::array<std::uint64_t, verdict_count> verdicts_{};
  std::unordered_map<std::uint64_t, Verdict> verdict_of_;
  std::optional<Outcome> best_;
  FailureReasons failures_;
  std::size_t reasons_shown_ = 0;
  std::string doing_, waited_for_;
  std::optional<std::size_t> measuring_;
  double paused_ = 0.0;
  std::vector<float> curve_;  ///< the best so far after each trial; infinity before the first
  bool line_open_ = false;
};

}  // namespace kernelsearch
