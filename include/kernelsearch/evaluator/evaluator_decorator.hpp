// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/evaluator/pairing_evaluator.hpp"
#include "kernelsearch/evaluator/portable_artifact.hpp"

namespace kernelsearch {

/// The evaluator in a decorator that has one.
template <class E>
class SingleInner {
 public:
  explicit SingleInner(E inner) : inner_(std::move(inner)) {}

  /// For questions, and for building.
  [[nodiscard]] E& any() noexcept { return inner_; }
  [[nodiscard]] const E& any() const noexcept { return inner_; }
  /// Calls `function` with an evaluator that may measure meanwhile.
  template <class Function>
  decltype(auto) measuring(Function&& function) {
    return std::forward<Function>(function)(inner_);
  }

 private:
  E inner_;
};

/// Passes on in which context evaluator `E` measures (problem, device, toolchain) and how it is renewed; a
/// member exists exactly where `E` has it. `Holder` has the evaluator, or several equal ones.
template <class E, class Holder = SingleInner<E>>
class ContextDecorator {
 public:
  explicit ContextDecorator(Holder holder) : holder_(std::move(holder)) {}

  [[nodiscard]] decltype(auto) problem() const requires requires(const E& e) { e.problem(); }
  { return holder_.any().problem(); }
  [[nodiscard]] std::string device_id() const requires requires(const E& e) { e.device_id(); }
  { return holder_.any().device_id(); }
  [[nodiscard]] std::string device_name() const requires requires(const E& e) { e.device_name(); }
  { return holder_.any().device_name(); }
  [[nodiscard]] std::string toolchain_id() const requires requires(const E& e) { e.toolchain_id(); }
  { return holder_.any().toolchain_id(); }
  [[nodiscard]] decltype(auto) device() const requires requires(const E& e) { e.device(); }
  { return holder_.any().device(); }
  [[nodiscard]] decltype(auto) options() const requires requires(const E& e) { e.options(); }
  { return holder_.any().options(); }
  [[nodiscard]] double busy_seconds() const requires requires(const E& e) { e.busy_seconds(); }
  { return holder_.any().busy_seconds(); }
  [[nodiscard]] double virtual_seconds() const requires requires(const E& e) { e.virtual_seconds(); }
  { return holder_.any().virtual_seconds(); }
  void renew() requires requires(E& e) { e.renew(); }
  { holder_.any().renew(); }

  [[nodiscard]] E& inner() noexcept { return holder_.any(); }
  [[nodiscard]] const E& inner() const noexcept { return holder_.any(); }

 protected:
  Holder holder_;
};

namespace detail {
template <class E>
struct SameArtifact {};
template <class E>
requires requires {
  typename E::Artifact;
}
struct SameArtifact<E> {
  using Artifact = typename E::Artifact;
};
}  // namespace detail

/// The base of evaluators around another one: passes on all that evaluator `E` can do, and a member exists
/// exactly where `E` has it. A decorator hides what it does itself; one with another `Artifact` hides
/// `evaluate`, `build` and `run`. What an evaluator learns to do is added here (and to `AnyEvaluator`).
template <class E, class Holder = SingleInner<E>>
class EvaluatorDecorator : public ContextDecorator<E, Holder>, public detail::SameArtifact<E> {
 public:
  static constexpr bool draws_own_budget = DrawsOwnBudget<E>;

  explicit EvaluatorDecorator(Holder holder) : ContextDecorator<E, Holder>(std::move(holder)) {}

  template <class Candidate>
  requires Evaluator<E, Candidate> Evaluation evaluate(const Candidate& candidate,
                                                       const EvaluationContext& context) {
    return this->holder_.measuring([&](E& e) { return e.evaluate(candidate, context); });
  }
  template <class Candidate>
  requires StagedEvaluator<E, Candidate> Staged<ArtifactOf<E>> build(const Candidate& candidate,
                                                                     const EvaluationContext& context) {
    return this->holder_.any().build(candidate, context);
  }
  Evaluation run(Staged<ArtifactOf<E>>&& staged, const EvaluationContext& context) requires
      requires(E& e, Staged<ArtifactOf<E>>&& s, const EvaluationContext& c) {
    e.run(std::move(s), c);
  }
  {
    return this->holder_.measuring([&](E& e) { return e.run(std::move(staged), context); });
  }
  [[nodiscard]] std::size_t lanes() const requires requires(const E& e) { e.lanes(); }
  { return static_cast<std::size_t>(this->holder_.any().lanes()); }

  template <class Candidate>
  requires PairingEvaluator<E, Candidate>
  [[nodiscard]] auto compare(const Candidate& candidate, const Candidate& champion,
                             const PairOptions& pairs) {
    return this->holder_.measuring([&](E& e) { return e.compare(candidate, champion, pairs); });
  }
  [[nodiscard]] PortableArtifact carry(const ArtifactOf<E>& artifact) requires
      requires(E& e, const ArtifactOf<E>& a) {
    { e.carry(a) } -> std::same_as<PortableArtifact>;
  }
  { return this->holder_.any().carry(artifact); }
  template <class Candidate>
  requires CarriesArtifacts<E, Candidate>
  [[nodiscard]] ArtifactOf<E> carried(const Candidate& candidate, const PortableArtifact& artifact) {
    return this->holder_.any().carried(candidate, artifact);
  }
  /// With the evaluator's own limits.
  template <class Candidate>
  requires requires(E& e, const Candidate& c) { e.compare(c, c); }
  [[nodiscard]] auto compare(const Candidate& candidate, const Candidate& champion) {
    return this->holder_.measuring([&](E& e) { return e.compare(candidate, champion); });
  }
  template <class Candidate>
  requires requires(E& e, const Candidate& c) { e.compare_with_reference(c); }
  [[nodiscard]] auto compare_with_reference(const Candidate& candidate) {
    return this->holder_.measuring([&](E& e) { return e.compare_with_reference(candidate); });
  }
};

}  // namespace kernelsearch
