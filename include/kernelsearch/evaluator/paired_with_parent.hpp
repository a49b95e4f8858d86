// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/steady_seconds.hpp"
#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/evaluator/evaluator_decorator.hpp"
#include "kernelsearch/evaluator/pairing_evaluator.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch {

/// How children are timed against their parents. The defaults are for telling 3 % from nothing: an interval
/// of +-0.4 %, from several processes, within two seconds (docs/benchmarks/attribution.md).
struct ParentPairing {
  PairOptions pairs{.when = Pairing::always,
                    .min_pairs = 24,
                    .max_pairs = 400,
                    .precision = 0.004,
                    .budget_seconds = 2.0,
                    .rounds = 4};
  std::function<bool(const EvaluationContext&)> which{};  ///< of the trials; empty: all
};

namespace detail {

/// Times the candidate against its parent in pairs, as features of its evaluation: none where the evaluator
/// cannot say; what goes wrong is told in the provenance.
template <class E, class Subject>
void pair_with_parent(E& evaluator, const Subject& candidate, const Subject& parent, const PairOptions& pairs,
                      Evaluation& evaluation) {
  const double begin = steady_seconds();
  const auto pair = [&] {
    const std::optional<Speedup> speedup = evaluator.compare(candidate, parent, pairs);
    if (!speedup || !(speedup->ratio > 0) || !(speedup->interval.low > 0)) return;
    evaluation.features.set("times_parent", 1 / speedup->ratio);
    evaluation.features.set("times_parent.low", 1 / speedup->interval.high);
    evaluation.features.set("times_parent.high", 1 / speedup->interval.low);
  };
#if KERNELSEARCH_EXCEPTIONS
  try {
    pair();
  } catch (const ConfigError& error) {
    evaluation.provenance += std::string("; not paired with its parent: ") + error.what();
  }
#else
  pair();
#endif
  evaluation.phases.measure += steady_seconds() - begin;
}

}  // namespace detail

/// An evaluator whose right candidates are also timed against their parent in interleaved pairs: features
/// `times_parent`, `times_parent.low` and `times_parent.high`, the candidate's time divided by the parent's
/// with its 95 % interval. Candidates with no parent or several, or with one that it does not know, have none
/// of them; what goes wrong with the comparison is told in the provenance and never takes a verdict away.
///
/// It belongs outside of a `Cached`, for the same candidate may have another parent. It knows what it judged
/// ok itself and what `lookup` knows, which for a resumed run is its log; `lookup` is called from several
/// threads at once.
template <class E, class Subject = Candidate>
class PairedWithParent : public EvaluatorDecorator<E> {
  static_assert(Evaluator<E, Subject>, "E cannot evaluate this Candidate: see docs/extending.md#evaluator");
  static_assert(PairingEvaluator<E, Subject>,
                "E has no compare(candidate, champion, pairs): see evaluator/pairing_evaluator.hpp");

 public:
  using Lookup = std::function<std::optional<Subject>(TrialId)>;

  explicit PairedWithParent(E inner, ParentPairing options = {}, Lookup lookup = {})
      : EvaluatorDecorator<E>(SingleInner<E>(std::move(inner))),
        options_(std::move(options)),
        lookup_(std::move(lookup)) {}

  Evaluation evaluate(const Subject& candidate, const EvaluationContext& context) {
    Evaluation evaluation = this->inner().evaluate(candidate, context);
    finish(candidate, context, evaluation);
    return evaluation;
  }

  /// The candidate with the inner artifact; none where its evaluation was known already, so that the pairs
  /// still wait for their turn to measure.
  template <class Inner>
  struct With {
    Subject candidate;
    std::optional<Inner> artifact;
  };
  using Artifact = With<ArtifactOf<E>>;

  Staged<Artifact> build(const Subject& candidate,
                         const EvaluationContext& context) requires StagedEvaluator<E, Subject> {
    auto staged = this->inner().build(candidate, context);
    if (!staged.artifact && staged.evaluation.verdict != Verdict::ok)
      return {std::move(staged.evaluation), std::nullopt};
    return {std::move(staged.evaluation), Artifact{candidate, std::move(staged.artifact)}};
  }

  Evaluation run(Staged<Artifact>&& staged,
                 const EvaluationContext& context) requires StagedEvaluator<E, Subject> {
    Artifact artifact = *std::move(staged.artifact);
    Evaluation evaluation =
        artifact.artifact ? this->inner().run(Staged<typename E::Artifact>{std::move(staged.evaluation),
                                                                           std::move(artifact.artifact)},
                                              context)
                          : std::move(staged.evaluation);
    finish(artifact.candidate, context, evaluation);
    return evaluation;
  }

 private:
  struct Known {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, Subject> candidates;
  };

  void finish(const Subject& candidate, const EvaluationContext& context, Evaluation& evaluation) {
    if (evaluation.verdict != Verdict::ok) return;
    {
      const std::lock_guard lock(known_->mutex);
      known_->candidates.insert_or_assign(number(context.trial), candidate);
    }
    if (context.parents.size() != 1 || context.stop.stop_requested()) return;
    if (options_.which && !options_.which(context)) return;
    const std::optional<Subject> parent = find(context.parents.front());
    if (parent) detail::pair_with_parent(this->inner(), candidate, *parent, options_.pairs, evaluation);
  }

  [[nodiscard]] std::optional<Subject> find(TrialId id) const {
    {
      const std::lock_guard lock(known_->mutex);
      const auto found = known_->candidates.find(number(id));
      if (found != known_->candidates.end()) return found->second;
    }
    return lookup_ ? lookup_(id) : std::nullopt;
  }

  ParentPairing options_;
  Lookup lookup_;
  std::unique_ptr<Known> known_ = std::make_unique<Known>();
};

}  // namespace kernelsearch
