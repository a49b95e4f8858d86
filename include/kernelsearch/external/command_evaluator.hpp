// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/evaluator/pairing_evaluator.hpp"
#include "kernelsearch/external/external_evaluator.hpp"
#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/command_task.hpp"

namespace kernelsearch {

/// Judges answers to a task with a config.yaml, docs/tasks.md: its three commands build, check and time each
/// in the sandbox, in a copy of the task's folder. They are trusted: what they call right is right, and the
/// time is the one that they report, which an answer that is loaded into their process could forge. A case's
/// time is in the features (`task.ms.NAME`), the objective is the cases' geometric mean. An answer that is
/// the best so far is timed in turns with the task's own text.
class CommandEvaluator {
 public:
  using Artifact = ExternalArtifact;

  /// A ConfigError for a problem of another kind.
  explicit CommandEvaluator(Problem problem, HostOptions options = {});
  CommandEvaluator(CommandEvaluator&&) noexcept;
  CommandEvaluator& operator=(CommandEvaluator&&) noexcept;
  ~CommandEvaluator();

  /// Keeps the candidate: its commands run one after the other, where it is measured.
  [[nodiscard]] Staged<ExternalArtifact> build(const Candidate& candidate, const EvaluationContext& context);
  [[nodiscard]] Evaluation run(Staged<ExternalArtifact>&& staged, const EvaluationContext& context);
  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context);
  [[nodiscard]] std::size_t lanes() const noexcept { return 1; }
  /// The champion's times divided by the candidate's, each built, checked and timed in turn.
  [[nodiscard]] Speedup compare(const Candidate& candidate, const Candidate& champion,
                                const PairOptions& pairs = {});

  [[nodiscard]] std::string device_id() const;
  [[nodiscard]] std::string device_name() const { return device_id(); }
  [[nodiscard]] std::string toolchain_id() const;
  [[nodiscard]] const Problem& problem() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

static_assert(StagedEvaluator<CommandEvaluator, Candidate>);
static_assert(PairingEvaluator<CommandEvaluator, Candidate>);

}  // namespace kernelsearch
