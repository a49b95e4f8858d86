// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <utility>

#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/evaluator/evaluator_decorator.hpp"

namespace kernelsearch {

/// Looks into what building a candidate left, e.g. its machine code.
///
/// 1. `inspector.inspect(artifact)` returns `Features`; called from several threads at once. What it cannot
///    find out it leaves out.
template <class I, class Artifact>
concept ArtifactInspector = requires(I& inspector, const Artifact& artifact) {
  { inspector.inspect(artifact) } -> std::same_as<Features>;
};

/// A staged evaluator whose built candidates are looked into before they run; what the inspector saw becomes
/// features, also of candidates that turn out wrong.
template <class E, class Candidate, class I>
class CodeInspected : public EvaluatorDecorator<E> {
  static_assert(StagedEvaluator<E, Candidate>,
                "E leaves no artifact for this Candidate: see docs/extending.md#evaluator");
  static_assert(ArtifactInspector<I, typename E::Artifact>,
                "I has no inspect(artifact): see docs/extending.md#evaluator");

 public:
  using Artifact = typename E::Artifact;

  CodeInspected(E inner, I inspector)
      : EvaluatorDecorator<E>(SingleInner<E>(std::move(inner))), inspector_(std::move(inspector)) {}

  Staged<Artifact> build(const Candidate& candidate, const EvaluationContext& context) {
    Staged<Artifact> staged = this->inner().build(candidate, context);
    if (!staged.artifact || context.stop.stop_requested()) return staged;
    const Features seen = inspector_.inspect(std::as_const(*staged.artifact));
    for (const auto& [name, value] : seen) staged.evaluation.features.set(name, value);
    return staged;
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    return evaluate_in_stages(*this, candidate, context);
  }

  [[nodiscard]] I& inspector() noexcept { return inspector_; }

 private:
  I inspector_;
};

}  // namespace kernelsearch
