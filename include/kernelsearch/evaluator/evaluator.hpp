// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

#include "kernelsearch/evaluator/evaluation_context.hpp"

namespace kernelsearch {

/// Judges one candidate: builds, checks, times. A bad candidate is a `Verdict`, never an exception; a device
/// that is lost throws `DeviceError`.
///
/// 1. `evaluator.evaluate(candidate, context)` returns an `Evaluation`.
///
/// See docs/extending.md#evaluator.
template <class E, class Candidate>
concept Evaluator = requires(E& evaluator, const Candidate& candidate, const EvaluationContext& context) {
  { evaluator.evaluate(candidate, context) } -> std::same_as<Evaluation>;
};

/// What the build phase left: the judgement so far and, unless it already failed, something to run.
template <class Artifact>
struct Staged {
  Evaluation evaluation;
  std::optional<Artifact> artifact;
};

/// An evaluator whose phases the loop runs apart, so that building one candidate overlaps measuring another.
///
/// 1. `E::Artifact` is what building leaves; movable.
/// 2. `evaluator.build(candidate, context)` returns `Staged<Artifact>`; called from several threads at once.
/// 3. `evaluator.run(staged, context)` checks and measures what was built and returns the `Evaluation`;
///    called from at most `evaluator.lanes()` threads at once, one for each device.
/// 4. `evaluator.lanes()` is the number of devices that can be measured on at the same time, at least 1.
template <class E, class Candidate>
concept StagedEvaluator = Evaluator<E, Candidate> && std::movable<typename E::Artifact> &&
    requires(E& evaluator, const Candidate& candidate, const EvaluationContext& context,
             Staged<typename E::Artifact>&& staged) {
  { evaluator.build(candidate, context) } -> std::same_as<Staged<typename E::Artifact>>;
  { evaluator.run(std::move(staged), context) } -> std::same_as<Evaluation>;
  { evaluator.lanes() } -> std::convertible_to<std::size_t>;
};

namespace detail {
template <class E>
struct ArtifactOf {
  using type = std::monostate;
};
template <class E>
requires requires {
  typename E::Artifact;
}
struct ArtifactOf<E> {
  using type = typename E::Artifact;
};
}  // namespace detail

/// `E::Artifact`, or `std::monostate` for an evaluator without phases; decorators wrap it.
template <class E>
using ArtifactOf = typename detail::ArtifactOf<E>::type;

/// Evaluators that draw from the shared budget themselves because each evaluation is a search of its own.
template <class E>
concept DrawsOwnBudget = requires {
  requires E::draws_own_budget;
};

/// Runs all phases of a staged evaluator one after another: the body of its `evaluate`.
template <class E, class Candidate>
[[nodiscard]] Evaluation evaluate_in_stages(E& evaluator, const Candidate& candidate,
                                            const EvaluationContext& context) {
  auto staged = evaluator.build(candidate, context);
  if (!staged.artifact) return std::move(staged.evaluation);
  return evaluator.run(std::move(staged), context);
}

}  // namespace kernelsearch
