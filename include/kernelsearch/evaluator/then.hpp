// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/evaluator/pairing_evaluator.hpp"

namespace kernelsearch {

/// An evaluator with one more step for candidates that were judged ok: `step(candidate, evaluation)` may add
/// features or take the verdict away. `Profiled` and `Validated` are this with a step each.
template <class E, class Candidate, class Step>
class Then {
  static_assert(Evaluator<E, Candidate>, "E cannot evaluate this Candidate: see docs/extending.md#evaluator");

 public:
  Then(E inner, Step step) : inner_(std::move(inner)), step_(std::move(step)) {}

  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    Evaluation evaluation = inner_.evaluate(candidate, context);
    if (evaluation.verdict == Verdict::ok) step_(candidate, evaluation);
    return evaluation;
  }

  /// The inner artifact with the candidate, which the step needs.
  template <class Inner>
  struct With {
    Candidate candidate;
    Inner artifact;
  };
  using Artifact = With<ArtifactOf<E>>;

  Staged<Artifact> build(const Candidate& candidate,
                         const EvaluationContext& context) requires StagedEvaluator<E, Candidate> {
    auto staged = inner_.build(candidate, context);
    if (!staged.artifact) {
      if (staged.evaluation.verdict == Verdict::ok)
        step_(candidate, staged.evaluation);  // known from a cache
      return {std::move(staged.evaluation), std::nullopt};
    }
    return {std::move(staged.evaluation), Artifact{candidate, *std::move(staged.artifact)}};
  }

  Evaluation run(Staged<Artifact>&& staged,
                 const EvaluationContext& context) requires StagedEvaluator<E, Candidate> {
    const Candidate candidate = std::move(staged.artifact->candidate);
    Evaluation evaluation = inner_.run(
        Staged<typename E::Artifact>{std::move(staged.evaluation), std::move(staged.artifact->artifact)},
        context);
    if (evaluation.verdict == Verdict::ok) step_(candidate, evaluation);
    return evaluation;
  }

  [[nodiscard]] std::size_t lanes() const requires requires(const E& e) { e.lanes(); }
  { return inner_.lanes(); }

  [[nodiscard]] auto compare(const Candidate& candidate, const Candidate& champion,
                             const PairOptions& pairs) requires PairingEvaluator<E, Candidate> {
    return inner_.compare(candidate, champion, pairs);
  }

  [[nodiscard]] E& inner() noexcept { return inner_; }
  [[nodiscard]] const E& inner() const noexcept { return inner_; }

 private:
  E inner_;
  Step step_;
};

}  // namespace kernelsearch
