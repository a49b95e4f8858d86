// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/history.hpp"
#include "kernelsearch/store/codec.hpp"
#include "kernelsearch/store/kernel_codec.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// The observer that writes a run: when `on_trial` returns, and so before the policy is told of the trial,
/// it is in the file. Asks are written together with the trial that follows them: a policy that is killed
/// before has learnt nothing from them and repeats them when it is resumed.
///
/// Put it first among the observers. A store that fails throws StoreError out of the loop: a trial that
/// cannot be kept is not told.
template <class Proposal, class CandidateType = Candidate>
class RunRecorder {
  static_assert(StorablePoint<Proposal>, "specialise PointCodec for this Proposal: see store/codec.hpp");
  static_assert(StorableCandidate<CandidateType>,
                "specialise CandidateCodec for this Candidate: see store/codec.hpp");

 public:
  /// Continues after what the run already holds. `paused`: how many seconds since now are not the run's.
  RunRecorder(RunStore& store, RunId run, CandidateCodec<CandidateType> codec = {},
              std::function<double()> paused = nullptr)
      : store_(store),
        run_(run),
        codec_(std::move(codec)),
        paused_(std::move(paused)),
        seconds_before_(store.run(run).seconds) {}

  void on_ask(const AskEvent& event) { asks_.push_back(event); }

  void on_trial(const Trial<CandidateType>& trial, const Proposal& proposal) {
    StoredTrial stored;
    std::optional<StoredKernel> kernel;
    stored.point = PointCodec<Proposal>::encode(proposal);
    if (trial.candidate) {
      stored.candidate = codec_.encode(*trial.candidate);
      if constexpr (std::same_as<CandidateType, Candidate>) {
        // People and the winner's files want the values that were measured, not the default searched from.
        if (const std::string& key = trial.outcome.evaluation.tuned_key; !key.empty()) {
          StoredCandidate best = codec_.encode(tuned(*trial.candidate, key));
          stored.candidate->key = std::move(best.key);
          stored.candidate->values = std::move(best.values);
        }
      }
      kernel = codec_.kernel(*trial.candidate);
    }
    stored.outcome = trial.outcome;
    stored.elapsed = seconds();
    store_.add_trial(run_, asks_, stored, kernel);
    asks_.clear();
  }

  void on_revised(const Trial<CandidateType>& trial) {
    store_.add_revision(run_, asks_, trial.outcome);
    asks_.clear();
  }

  void on_inner(TrialId parent, const InnerTrial& trial) { store_.add_inner(run_, parent, trial); }

  void on_end(std::string_view reason) {
    store_.add_asks(run_, asks_);
    asks_.clear();
    store_.end_run(run_, reason, seconds());
  }

  [[nodiscard]] RunId run() const noexcept { return run_; }

 private:
  [[nodiscard]] double seconds() const {
    return seconds_before_ +
           std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count() -
           (paused_ ? paused_() : 0.0);
  }

  RunStore& store_;
  RunId run_;
  CandidateCodec<CandidateType> codec_;
  std::vector<AskEvent> asks_;
  std::function<double()> paused_;
  double seconds_before_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace kernelsearch
