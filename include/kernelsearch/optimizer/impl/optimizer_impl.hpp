// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernelsearch/optimizer/optimizer.hpp"

namespace kernelsearch {
namespace detail {

/// The parts of one Optimizer.
template <class Policy, class Gen, class Eval>
class PartsOf final : public LoopParts<typename Gen::Candidate, typename Policy::Proposal> {
  using Candidate = typename Gen::Candidate;
  using Proposal = typename Policy::Proposal;
  static constexpr bool is_staged = StagedEvaluator<Eval, Candidate>;

 public:
  PartsOf(Policy& policy, Gen& generator, Eval& evaluator)
      : LoopParts<Candidate, Proposal>(is_staged, DrawsOwnBudget<Eval>),
        policy_(policy),
        generator_(generator),
        evaluator_(evaluator) {}

  std::vector<Proposal> ask(std::size_t n) override { return policy_.ask(n); }
  void tell(std::span<const Observation<Proposal>> batch) override { policy_.tell(batch); }
  bool await() override {
    if constexpr (AwaitingPolicy<Policy>)
      return policy_.await();
    else
      return false;
  }
  Generation<Candidate> generate(const Proposal& proposal, const History<Candidate>& history) override {
    return generator_.generate(proposal, history);
  }
  Evaluation evaluate([[maybe_unused]] const Candidate& candidate,
                      [[maybe_unused]] const EvaluationContext& context) override {
    if constexpr (std::same_as<Eval, External>)
      return {};  // run and step do not compile for it
    else
      return evaluator_.evaluate(candidate, context);
  }
  std::unique_ptr<BuiltArtifact> build([[maybe_unused]] const Candidate& candidate,
                                       [[maybe_unused]] const EvaluationContext& context,
                                       [[maybe_unused]] Evaluation& ended) override {
    if constexpr (is_staged) {
      auto artifact = std::make_unique<StagedArtifact>(evaluator_.build(candidate, context));
      if (artifact->staged.artifact) return artifact;
      ended = std::move(artifact->staged.evaluation);
    }
    return nullptr;
  }
  Evaluation run([[maybe_unused]] BuiltArtifact& artifact,
                 [[maybe_unused]] const EvaluationContext& context) override {
    if constexpr (is_staged)
      return evaluator_.run(std::move(static_cast<StagedArtifact&>(artifact).staged), context);
    else
      return {};
  }
  std::size_t lanes() override {
    if constexpr (requires { evaluator_.lanes(); })
      return std::max<std::size_t>(1, static_cast<std::size_t>(evaluator_.lanes()));
    else
      return 1;
  }

 private:
  struct StagedArtifact final : BuiltArtifact {
    explicit StagedArtifact(Staged<kernelsearch::ArtifactOf<Eval>>&& built) : staged(std::move(built)) {}
    Staged<kernelsearch::ArtifactOf<Eval>> staged;
  };

  Policy& policy_;
  Gen& generator_;
  Eval& evaluator_;
};

}  // namespace detail

template <class Policy, class Gen, class Eval>
Optimizer<Policy, Gen, Eval>::Optimizer(Policy policy, Gen generator, Eval evaluator,
                                        OptimizerOptions options)
    : policy_(std::move(policy)),
      generator_(std::move(generator)),
      evaluator_(std::move(evaluator)),
      loop_(std::move(options)) {}

template <class Policy, class Gen, class Eval>
template <StopRule Rule, class... Observers>
RunSummary Optimizer<Policy, Gen, Eval>::run(Rule rule, Observers&... observers) {
  static_assert(!std::same_as<Eval, External>, "run needs an evaluator; without one use ask and tell");
  static_assert(((sizeof(detail::ObserverCheck<Observers, Candidate, Proposal>) != 0) && ...));
  Parts parts(policy_, generator_, evaluator_);
  Watched<Observers...> watching(observers...);
  return loop_.run(parts, detail::RuleOf<Rule>(rule), watching);
}

template <class Policy, class Gen, class Eval>
template <Observer<typename Gen::Candidate, typename Policy::Proposal>... Observers>
requires(!std::same_as<Eval, External>) bool Optimizer<Policy, Gen, Eval>::step(Observers&... observers) {
  Parts parts(policy_, generator_, evaluator_);
  Watched<Observers...> watching(observers...);
  const Never never;
  return loop_.step(parts, detail::RuleOf<Never>(never), watching);
}

template <class Policy, class Gen, class Eval>
template <Observer<typename Gen::Candidate, typename Policy::Proposal>... Observers>
auto Optimizer<Policy, Gen, Eval>::ask(std::size_t n, Observers&... observers)
    -> std::vector<Job<Candidate>> {
  Parts parts(policy_, generator_, evaluator_);
  Watched<Observers...> watching(observers...);
  return loop_.ask(parts, n, watching);
}

template <class Policy, class Gen, class Eval>
template <Observer<typename Gen::Candidate, typename Policy::Proposal>... Observers>
void Optimizer<Policy, Gen, Eval>::tell(TrialId id, Evaluation evaluation, Observers&... observers) {
  Parts parts(policy_, generator_, evaluator_);
  Watched<Observers...> watching(observers...);
  loop_.tell(parts, id, std::move(evaluation), watching);
}

template <class Policy, class Gen, class Eval>
template <Observer<typename Gen::Candidate, typename Policy::Proposal>... Observers>
auto Optimizer<Policy, Gen, Eval>::submit(Proposal point, Candidate candidate, Observers&... observers)
    -> std::optional<Job<Candidate>> {
  Parts parts(policy_, generator_, evaluator_);
  Watched<Observers...> watching(observers...);
  return loop_.submit(parts, std::move(point), std::move(candidate), watching);
}

template <class Policy, class Gen, class Eval>
template <Observer<typename Gen::Candidate, typename Policy::Proposal>... Observers>
TrialId Optimizer<Policy, Gen, Eval>::submit(Proposal point, Candidate candidate, Evaluation evaluation,
                                             Observers&... observers) {
  Parts parts(policy_, generator_, evaluator_);
  Watched<Observers...> watching(observers...);
  return loop_.submit(parts, std::move(point), std::move(candidate), std::move(evaluation), watching);
}

template <class Policy, class Gen, class Eval>
template <Observer<typename Gen::Candidate, typename Policy::Proposal>... Observers>
void Optimizer<Policy, Gen, Eval>::revise(TrialId id, Evaluation evaluation, Observers&... observers) {
  Parts parts(policy_, generator_, evaluator_);
  Watched<Observers...> watching(observers...);
  loop_.revise(parts, id, std::move(evaluation), watching);
}

template <class Policy, class Gen, class Eval>
Result<void> Optimizer<Policy, Gen, Eval>::try_resume(const RunRecord<Candidate, Proposal>& record) {
  Parts parts(policy_, generator_, evaluator_);
  return loop_.resume(parts, record);
}

template <class Policy, class Gen, class Eval>
void Optimizer<Policy, Gen, Eval>::resume(const RunRecord<Candidate, Proposal>& record) {
  if (const Result<void> resumed = try_resume(record); !resumed) detail::raise_config_error(resumed.error());
}

}  // namespace kernelsearch
