// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <functional>
#include <utility>

#include "kernelsearch/core/impl/steady_seconds.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/run/run_observer.hpp"
#include "kernelsearch/store/run_times.hpp"

namespace kernelsearch::detail {

/// Divides the wall time of a run among its causes as it passes. Begins in the cause `starting`; counts while
/// it is open. Not thread-safe.
class TimeAccount {
 public:
  using Clock = std::function<double()>;  ///< seconds
  explicit TimeAccount(Clock clock = steady_seconds) : clock_(std::move(clock)), since_(clock_()) {}

  /// A call begins to drive the run: what came before the first one was starting.
  void open() {
    pass();
    starting_ = false;
    ++open_;
  }
  void close() {
    pass();
    --open_;
  }

  /// What the run does from now on.
  void does(const RunActivity& activity) {
    pass();
    measuring_ = activity.measuring > 0;
    building_ = activity.compiling > 0;
    asking_ = activity.asking > 0;
  }
  void finalists(bool on) {
    pass();
    finalists_ = on;
  }
  /// What a candidate's judgement took.
  void judged(const PhaseSeconds& phases) {
    if (finalists_) return;
    judged_ += phases.check + phases.measure;
    reference_ += phases.reference;
  }

  /// What passed since the last time this was asked.
  [[nodiscard]] RunTimes taken() {
    pass();
    RunTimes times = std::exchange(times_, {});
    // Several devices measure at once, so the reference's share of their work is its share of the time.
    const double share = judged_ > 0 ? std::clamp(reference_ / judged_, 0.0, 1.0) : 0.0;
    times.reference = share * times.measuring;
    times.measuring -= times.reference;
    judged_ = reference_ = 0;
    return times;
  }

 private:
  void pass() {
    const double now = clock_(), passed = now - std::exchange(since_, now);
    if (starting_)
      times_.starting += passed;
    else if (open_ > 0)
      times_.*cause() += passed;
  }
  [[nodiscard]] double RunTimes::*cause() const {
    return finalists_   ? &RunTimes::finalists
           : measuring_ ? &RunTimes::measuring
           : building_  ? &RunTimes::building
           : asking_    ? &RunTimes::model
                        : &RunTimes::other;
  }

  Clock clock_;
  RunTimes times_{};
  double since_ = 0, judged_ = 0, reference_ = 0;
  int open_ = 0;
  bool starting_ = true, finalists_ = false, measuring_ = false, building_ = false, asking_ = false;
};

}  // namespace kernelsearch::detail
