// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/evaluator/evaluator_decorator.hpp"
#include "kernelsearch/evaluator/memory_cache.hpp"

namespace kernelsearch {

/// Where `Cached` keeps evaluations: `find(key)` and `insert(key, evaluation)`, both thread-safe.
template <class C>
concept EvaluationCache = requires(C& cache, const std::string& key, const Evaluation& evaluation) {
  { cache.find(key) } -> std::same_as<std::optional<Evaluation>>;
  cache.insert(key, evaluation);
};

/// Evaluates each content once. `Key` maps a candidate to a string that holds everything its evaluation
/// depends on (problem, kernel, configuration, device, toolchain). Evaluations cut short by a stop are not
/// kept, and pairs are measured anew each time.
template <class E, class Key, EvaluationCache Cache = MemoryCache>
class Cached : public EvaluatorDecorator<E> {
 public:
  Cached(E inner, Key key, std::shared_ptr<Cache> cache = std::make_shared<Cache>())
      : EvaluatorDecorator<E>(SingleInner<E>(std::move(inner))),
        key_(std::move(key)),
        cache_(std::move(cache)) {}

  template <class Candidate>
  requires Evaluator<E, Candidate> Evaluation evaluate(const Candidate& candidate,
                                                       const EvaluationContext& context) {
    std::string key = key_(candidate);
    if (std::optional<Evaluation> known = cache_->find(key)) return *std::move(known);
    Evaluation evaluation = this->inner().evaluate(candidate, context);
    keep(key, evaluation, context);
    return evaluation;
  }

  /// The inner artifact with the key under which its evaluation will be kept.
  template <class Inner>
  struct Keyed {
    std::string key;
    Inner artifact;
  };
  using Artifact = Keyed<ArtifactOf<E>>;

  /// A known candidate comes back without an artifact: its evaluation is complete.
  template <class Candidate>
  requires StagedEvaluator<E, Candidate> Staged<Artifact> build(const Candidate& candidate,
                                                                const EvaluationContext& context) {
    std::string key = key_(candidate);
    if (std::optional<Evaluation> known = cache_->find(key)) return {*std::move(known), std::nullopt};
    auto staged = this->inner().build(candidate, context);
    if (!staged.artifact) {
      keep(key, staged.evaluation, context);
      return {std::move(staged.evaluation), std::nullopt};
    }
    return {std::move(staged.evaluation), Artifact{std::move(key), *std::move(staged.artifact)}};
  }

  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) requires requires {
    typename E::Artifact;
  }
  {
    const std::string key = std::move(staged.artifact->key);
    Evaluation evaluation = this->inner().run(
        Staged<typename E::Artifact>{std::move(staged.evaluation), std::move(staged.artifact->artifact)},
        context);
    keep(key, evaluation, context);
    return evaluation;
  }

  [[nodiscard]] Cache& cache() noexcept { return *cache_; }

 private:
  void keep(const std::string& key, const Evaluation& evaluation, const EvaluationContext& context) {
    if (context.stop.stop_requested() && evaluation.verdict != Verdict::ok) return;
    cache_->insert(key, evaluation);
  }

  Key key_;
  std::shared_ptr<Cache> cache_;
};

}  // namespace kernelsearch
