// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernelsearch/core/history.hpp"
#include "kernelsearch/evaluator/evaluation_context.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch {

/// What a run is doing at a moment.
struct RunActivity {
  std::size_t compiling = 0;  ///< candidates
  std::size_t measuring = 0;  ///< candidates that are checked and timed
  std::size_t asking = 0;     ///< questions that models have not answered
  std::string waiting = {};   ///< what it waits for, in words: e.g. a core that another process measures on
  double paused = 0.0;        ///< seconds of the call in which it was kept from going on; in no budget
};
/// In a few words, what it waits for first; empty: nothing of the kind.
[[nodiscard]] std::string to_string(const RunActivity& activity);

/// Hears what happens in a run, on the thread that drives it. A trial is in the store before anyone hears of
/// it.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// A candidate was admitted and is being built.
  virtual void on_start(TrialId, const Candidate&) {}
  /// A trial ended.
  virtual void on_trial(const Trial<Candidate>&) {}
  /// The best changed.
  virtual void on_best(const Trial<Candidate>&) {}
  /// A known trial has a new outcome, e.g. a finalist that was measured again.
  virtual void on_revised(const Trial<Candidate>&) {}
  /// A trial of the search inside the evaluation of a kernel; from any thread.
  virtual void on_inner(TrialId, const InnerTrial&) {}
  /// What the run does besides trials, or what is not as it was asked for, in a sentence for people.
  virtual void on_message(std::string_view) {}
  /// The run does something else than before; often, and from any thread.
  virtual void on_activity(const RunActivity&) {}
  /// The run, or a step of it, has ended for this reason.
  virtual void on_end(std::string_view) {}
};

namespace detail {

/// Any object that has some of the hooks, without a base class.
template <class O>
class HookObserver final : public RunObserver {
 public:
  static_assert(
      requires(O & o, const Trial<Candidate>& t) { o.on_trial(t); } ||
          requires(O & o, const Trial<Candidate>& t) { o.on_best(t); } ||
          requires(O & o, const Trial<Candidate>& t) { o.on_revised(t); } ||
          requires(O & o, TrialId id, const Candidate& c) { o.on_start(id, c); } ||
          requires(O & o, TrialId id, const InnerTrial& t) { o.on_inner(id, t); } ||
          requires(O & o, std::string_view text) { o.on_message(text); } ||
          requires(O & o, const RunActivity& activity) { o.on_activity(activity); } ||
          requires(O & o, std::string_view text) { o.on_end(text); },
      "not an observer of a run: it has none of on_start(id, candidate), on_trial(trial), on_best(trial), "
      "on_revised(trial), on_inner(parent, trial), on_message(text), on_activity(activity), on_end(reason): "
      "see docs/embedding.md");

  explicit HookObserver(O& observer) : observer_(observer) {}
  void on_start(TrialId id, const Candidate& candidate) override {
    if constexpr (requires { observer_.on_start(id, candidate); }) observer_.on_start(id, candidate);
  }
  void on_trial(const Trial<Candidate>& trial) override {
    if constexpr (requires { observer_.on_trial(trial); }) observer_.on_trial(trial);
  }
  void on_best(const Trial<Candidate>& trial) override {
    if constexpr (requires { observer_.on_best(trial); }) observer_.on_best(trial);
  }
  void on_revised(const Trial<Candidate>& trial) override {
    if constexpr (requires { observer_.on_revised(trial); }) observer_.on_revised(trial);
  }
  void on_inner(TrialId parent, const InnerTrial& trial) override {
    if constexpr (requires { observer_.on_inner(parent, trial); }) observer_.on_inner(parent, trial);
  }
  void on_message(std::string_view text) override {
    if constexpr (requires { observer_.on_message(text); }) observer_.on_message(text);
  }
  void on_activity(const RunActivity& activity) override {
    if constexpr (requires { observer_.on_activity(activity); }) observer_.on_activity(activity);
  }
  void on_end(std::string_view reason) override {
    if constexpr (requires { observer_.on_end(reason); }) observer_.on_end(reason);
  }

 private:
  O& observer_;
};

/// Several observers as one, told in their order.
class RunObservers final : public RunObserver {
 public:
  template <class... O>
  explicit RunObservers(O&... observers) {
    (add(observers), ...);
  }
  void on_start(TrialId id, const Candidate& candidate) override {
    for (RunObserver* each : observers_) each->on_start(id, candidate);
  }
  void on_trial(const Trial<Candidate>& trial) override {
    for (RunObserver* each : observers_) each->on_trial(trial);
  }
  void on_best(const Trial<Candidate>& trial) override {
    for (RunObserver* each : observers_) each->on_best(trial);
  }
  void on_revised(const Trial<Candidate>& trial) override {
    for (RunObserver* each : observers_) each->on_revised(trial);
  }
  void on_inner(TrialId parent, const InnerTrial& trial) override {
    for (RunObserver* each : observers_) each->on_inner(parent, trial);
  }
  void on_message(std::string_view text) override {
    for (RunObserver* each : observers_) each->on_message(text);
  }
  void on_activity(const RunActivity& activity) override {
    for (RunObserver* each : observers_) each->on_activity(activity);
  }
  void on_end(std::string_view reason) override {
    for (RunObserver* each : observers_) each->on_end(reason);
  }

 private:
  template <class O>
  void add(O& observer) {
    if constexpr (std::is_base_of_v<RunObserver, O>) {
      observers_.push_back(&observer);
    } else {
      adapted_.push_back(std::make_unique<HookObserver<O>>(observer));
      observers_.push_back(adapted_.back().get());
    }
  }

  std::vector<std::unique_ptr<RunObserver>> adapted_;
  std::vector<RunObserver*> observers_;
};

}  // namespace detail
}  // namespace kernelsearch
