// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "kernelsearch/evaluator/evaluator.hpp"

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
/// features, also of candidates that turn out wrong. What else the inner evaluator offers is passed on.
template <class E, class Candidate, class I>
class CodeInspected {
  static_assert(StagedEvaluator<E, Candidate>,
                "E leaves no artifact for this Candidate: see docs/extending.md#evaluator");
  static_assert(ArtifactInspector<I, typename E::Artifact>,
                "I has no inspect(artifact): see docs/extending.md#evaluator");

 public:
  using Artifact = typename E::Artifact;

  CodeInspected(E inner, I inspector) : inner_(std::move(inner)), inspector_(std::move(inspector)) {}

  Staged<Artifact> build(const Candidate& candidate, const EvaluationContext& context) {
    Staged<Artifact> staged = inner_.build(candidate, context);
    if (!staged.artifact || context.stop.stop_requested()) return staged;
    const Features seen = inspector_.inspect(std::as_const(*staged.artifact));
    for (const auto& [name, value] : seen) staged.evaluation.features.set(name, value);
    return staged;
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) {
    return inner_.run(std::move(staged), context);
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    return evaluate_in_stages(*this, candidate, context);
  }
  [[nodiscard]] std::size_t lanes() const { return inner_.lanes(); }

  [[nodiscard]] decltype(auto) problem() const requires requires(const E& e) { e.problem(); }
  { return inner_.problem(); }
  [[nodiscard]] std::string device_id() const requires requires(const E& e) { e.device_id(); }
  { return inner_.device_id(); }
  [[nodiscard]] std::string device_name() const requires requires(const E& e) { e.device_name(); }
  { return inner_.device_name(); }
  [[nodiscard]] std::string toolchain_id() const requires requires(const E& e) { e.toolchain_id(); }
  { return inner_.toolchain_id(); }
  void renew() requires requires(E& e) { e.renew(); }
  { inner_.renew(); }
  [[nodiscard]] Speedup compare(const Candidate& candidate, const Candidate& champion) requires
      requires(E& e) {
    e.compare(candidate, champion);
  }
  { return inner_.compare(candidate, champion); }

  [[nodiscard]] E& inner() noexcept { return inner_; }
  [[nodiscard]] I& inspector() noexcept { return inspector_; }

 private:
  E inner_;
  I inspector_;
};

}  // namespace kernelsearch
