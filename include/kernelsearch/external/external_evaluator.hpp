// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/evaluator/pairing_evaluator.hpp"
#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// What waits for its turn: a program of its own builds it when it comes.
struct ExternalArtifact {
  Candidate candidate;
};

/// Judges kernels that a program of the problem's builds and runs: docs/external_evaluators.md. The program
/// runs in the sandbox, anew for each candidate, and speaks JSON Lines. From outside are checked: the outputs
/// of calls whose inputs are drawn anew for each and stay secret until its clock runs, against the problem's
/// reference; that nothing else was written; the time, by our clock (`ExternalClock::slope`), and what the
/// program claims against it. What must be trusted is in `Evaluation::provenance` of each result.
class ExternalEvaluator {
 public:
  using Artifact = ExternalArtifact;

  /// Starts the program once, to learn what it is. A ConfigError where it cannot be started, does not
  /// describe itself or speaks another protocol, or where the problem has no external program.
  /// For the options sandbox, readable folders, limits, checks, sampling and `buffer_memory` count.
  explicit ExternalEvaluator(Problem problem, HostOptions options = {});
  ExternalEvaluator(ExternalEvaluator&&) noexcept;
  ExternalEvaluator& operator=(ExternalEvaluator&&) noexcept;
  ~ExternalEvaluator();

  /// Whether the problem accepts the configuration; the program is asked when it is the candidate's turn.
  [[nodiscard]] Staged<ExternalArtifact> build(const Candidate& candidate, const EvaluationContext& context);
  /// A DeviceError where the program describes itself in another way than at first.
  [[nodiscard]] Evaluation run(Staged<ExternalArtifact>&& staged, const EvaluationContext& context);
  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context);
  [[nodiscard]] std::size_t lanes() const noexcept { return 1; }

  /// The champion's time divided by the candidate's, in interleaved pairs of rounds, each in a program of its
  /// own; a ConfigError if one of them is not ok.
  [[nodiscard]] Speedup compare(const Candidate& candidate, const Candidate& champion,
                                const PairOptions& pairs = {});

  /// What the program measures on, in its own words, and this machine.
  [[nodiscard]] std::string device_id() const;
  [[nodiscard]] std::string device_name() const { return device_id(); }
  /// The program by its name, its version, where times come from, and a digest of all that identifies it: its
  /// files, those that its command names, and what the commands of `identity` print.
  [[nodiscard]] std::string toolchain_id() const;
  [[nodiscard]] const Problem& problem() const noexcept;
  [[nodiscard]] const HostOptions& options() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

static_assert(StagedEvaluator<ExternalEvaluator, Candidate>);
static_assert(PairingEvaluator<ExternalEvaluator, Candidate>);

}  // namespace kernelsearch
