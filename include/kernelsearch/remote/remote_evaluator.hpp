// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/remote/remote_options.hpp"

namespace kernelsearch {

/// A candidate that was built by a worker, with its code, so that any worker can run it.
struct RemoteArtifact {
  Candidate candidate;
  std::string digest;                                ///< of the code; empty: only its builder could run it
  std::shared_ptr<const PortableArtifact> portable;  ///< null: as above
  std::uint64_t worker = 0;                          ///< that has the code already
};

/// Judges candidates by workers at the other ends of pipes, each a lane: the judge is the one that this
/// library has for one machine, so the verdicts are its own (docs/scale.md).
///
/// * What a worker had in hand when it was lost is done by another one; it counts once, since only an answer
///   counts. A candidate with which `most_losses` workers were lost is crashed.
/// * A node that is ended kills its processes one after another: a compiler or a candidate may be gone just
///   before the worker, which then tells of a failure. An error, and a failure that a killed process may look
///   like, is therefore used only where the worker answers once more, `settle_seconds` later; otherwise the
///   worker is lost, and what it had in hand is done by another one.
/// * A worker of another device, toolchain or sandbox is refused; one that answers what cannot be, is lost
///   again and again before it did anything, judges the default configuration differently, or takes several
///   times as long as the others is set aside. `reports` names it.
/// * After `renew`, what is measured outside of a search is measured on one worker's device, and so are
///   candidates that are compared, unless that device is busy: each pair is timed on one device, whichever.
///
/// Copies are the same lanes. Thread-safe.
class RemoteEvaluator {
 public:
  using Artifact = RemoteArtifact;

  /// Starts all workers and waits for the first that measures. DeviceError with the reasons of all where
  /// there is none; ConfigError for options that cannot be.
  RemoteEvaluator(Problem problem, RemoteOptions options);

  [[nodiscard]] Staged<RemoteArtifact> build(const Candidate& candidate, const EvaluationContext& context);
  /// DeviceError where no worker is left.
  [[nodiscard]] Evaluation run(Staged<RemoteArtifact>&& staged, const EvaluationContext& context);
  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context);
  [[nodiscard]] std::size_t lanes() const noexcept;
  /// Candidates that workers build at a time, all together, as the first that was ready says.
  [[nodiscard]] std::size_t build_places() const;

  [[nodiscard]] std::optional<Speedup> compare(const Candidate& candidate, const Candidate& champion,
                                               const PairOptions& pairs);
  void renew();

  [[nodiscard]] const Problem& problem() const noexcept;
  [[nodiscard]] std::string device_id() const;
  [[nodiscard]] std::string device_name() const;
  [[nodiscard]] std::string toolchain_id() const;
  [[nodiscard]] std::string sandbox() const;

  /// All lanes as they are now.
  [[nodiscard]] std::vector<LaneReport> reports() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

static_assert(DeviceEvaluator<RemoteEvaluator>);

/// Those lanes that were set aside or lost a worker, in words; empty where there are none.
[[nodiscard]] std::string lane_remarks(const std::vector<LaneReport>& reports);

}  // namespace kernelsearch
