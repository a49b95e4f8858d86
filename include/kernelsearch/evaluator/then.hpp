// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <utility>

#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/evaluator/evaluator_decorator.hpp"
#include "kernelsearch/evaluator/portable_artifact.hpp"

namespace kernelsearch {

/// An evaluator with one more step for candidates that were judged ok: `step(candidate, evaluation)` may add
/// features or take the verdict away. `Profiled` and `Validated` are this with a step each.
template <class E, class Candidate, class Step>
class Then : public EvaluatorDecorator<E> {
  static_assert(Evaluator<E, Candidate>, "E cannot evaluate this Candidate: see docs/extending.md#evaluator");

 public:
  Then(E inner, Step step)
      : EvaluatorDecorator<E>(SingleInner<E>(std::move(inner))), step_(std::move(step)) {}

  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    Evaluation evaluation = this->inner().evaluate(candidate, context);
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
    auto staged = this->inner().build(candidate, context);
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
    Evaluation evaluation = this->inner().run(
        Staged<typename E::Artifact>{std::move(staged.evaluation), std::move(staged.artifact->artifact)},
        context);
    if (evaluation.verdict == Verdict::ok) step_(candidate, evaluation);
    return evaluation;
  }

  [[nodiscard]] PortableArtifact carry(const Artifact& artifact) requires CarriesArtifacts<E, Candidate> {
    return this->inner().carry(artifact.artifact);
  }
  [[nodiscard]] Artifact carried(const Candidate& candidate,
                                 const PortableArtifact& artifact) requires CarriesArtifacts<E, Candidate> {
    return {candidate, this->inner().carried(candidate, artifact)};
  }

 private:
  Step step_;
};

}  // namespace kernelsearch
