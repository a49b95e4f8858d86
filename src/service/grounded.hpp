// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail {

/// An evaluator that decorations are put around while it can still be asked what it is grounded on.
template <class Base>
struct Held {
  using Artifact = typename Base::Artifact;
  std::shared_ptr<Base> base;

  Staged<Artifact> build(const Candidate& candidate, const EvaluationContext& context) {
    return base->build(candidate, context);
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) {
    return base->run(std::move(staged), context);
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    return base->evaluate(candidate, context);
  }
  [[nodiscard]] std::size_t lanes() const { return base->lanes(); }
  template <class Pairs>
  [[nodiscard]] auto compare(const Candidate& candidate, const Candidate& champion, const Pairs& pairs) {
    return base->compare(candidate, champion, pairs);
  }
};

/// The decorated evaluator, with what its innermost knows of the ground.
template <class E, class Base>
struct Grounded {
  using Artifact = typename E::Artifact;
  E decorated;
  std::shared_ptr<Base> base;

  Staged<Artifact> build(const Candidate& candidate, const EvaluationContext& context) {
    return decorated.build(candidate, context);
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) {
    return decorated.run(std::move(staged), context);
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    return decorated.evaluate(candidate, context);
  }
  [[nodiscard]] std::size_t lanes() const { return base->lanes(); }
  template <class Pairs>
  [[nodiscard]] auto compare(const Candidate& candidate, const Candidate& champion, const Pairs& pairs) {
    return base->compare(candidate, champion, pairs);
  }
  [[nodiscard]] const Problem& problem() const { return base->problem(); }
  [[nodiscard]] std::string device_id() const { return base->device_id(); }
  [[nodiscard]] std::string toolchain_id() const { return base->toolchain_id(); }
  void renew() {
    if constexpr (requires { base->renew(); }) base->renew();
  }
};

}  // namespace kernelsearch::detail
