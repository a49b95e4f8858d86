// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <deque>
#include <optional>

#include "kernelsearch/core/history.hpp"
#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/optimizer/impl/loop.hpp"
#include "kernelsearch/optimizer/job.hpp"
#include "kernelsearch/optimizer/observer.hpp"
#include "kernelsearch/optimizer/optimizer_options.hpp"
#include "kernelsearch/optimizer/run_record.hpp"
#include "kernelsearch/optimizer/run_summary.hpp"
#include "kernelsearch/optimizer/stop_rule.hpp"
#include "kernelsearch/policy/search_policy.hpp"

namespace kernelsearch {

/// Stands where an evaluator would when the caller evaluates candidates itself, through `ask` and `tell`.
struct External {};

namespace detail {
template <class Policy, class Gen, class Eval>
class PartsOf;

// Apart, because compilers do not name the missing member of a concept inside a disjunction.
template <class Eval, class Candidate>
struct EvaluatorCheck {
  static_assert(Evaluator<Eval, Candidate>,
                "Eval cannot evaluate this generator's Candidate: see docs/extending.md#evaluator");
};
template <class Candidate>
struct EvaluatorCheck<External, Candidate> {};

// In the body, because a failed constraint of an overload does not say which hooks there are.
template <class O, class Candidate, class Proposal>
struct ObserverCheck {
  static_assert(
      Observer<O, Candidate, Proposal>,
      "not an Observer: it has none of on_ask(event), on_start(id, candidate), on_trial(trial, proposal), "
      "on_best(trial), on_revised(trial), on_inner(parent, trial), on_end(reason): see "
      "docs/extending.md#observer");
};
}  // namespace detail

/// The one loop: asks the policy, has the generator write candidates, the evaluator judge them, and tells the
/// policy. Every published system is this class with other parts.
///
/// `run` does it all; `step` one round; an embedder that owns the loop, the threads or the machine calls
/// `ask` and `tell`. The object is used from one thread; `run` starts and joins its own threads when
/// `OptimizerOptions::in_flight` is above 1.
template <class Policy, class Gen, class Eval = External>
class Optimizer {
  static_assert(SearchPolicy<Policy>, "Policy is not a SearchPolicy: see docs/extending.md#policy");
  static_assert(GeneratorOf<Gen, typename Policy::Proposal>,
                "Gen cannot generate from this policy's Proposal: see docs/extending.md#generator");
  static_assert(sizeof(detail::EvaluatorCheck<Eval, typename Gen::Candidate>) != 0);

 public:
  using Proposal = typename Policy::Proposal;
  using Candidate = typename Gen::Candidate;
  using TrialType = Trial<Candidate>;

  explicit Optimizer(Policy policy, Gen generator, Eval evaluator = {}, OptimizerOptions options = {});

  /// Runs until the policy has no more to propose, the budget is spent, the rule is reached or a stop was
  /// asked for. Candidates already in flight when a rule is reached are finished and told.
  template <StopRule Rule, class... Observers>
  RunSummary run(Rule rule, Observers&... observers);

  template <class... Observers>
  RunSummary run(Observers&... observers) {
    return run(Never{}, observers...);
  }

  /// A number is not a stop rule; this says what is one.
  template <std::integral Number, class... Observers>
  RunSummary run(Number, Observers&...) {
    static_assert(sizeof(Number) == 0, "a number is not a stop rule: did you mean run(MaxTrials{...})?");
    return {};
  }

  /// One proposal: asked for, generated, evaluated, told. False once nothing more will come.
  template <Observer<Candidate, Proposal>... Observers>
  requires(!std::same_as<Eval, External>) bool step(Observers&... observers);

  /// Candidates of at most `n` new proposals. Proposals of which nothing came are told at once. Empty means
  /// "nothing now" while something is outstanding, and the end (`done()`) otherwise.
  template <Observer<Candidate, Proposal>... Observers>
  std::vector<Job<Candidate>> ask(std::size_t n, Observers&... observers);

  /// What became of an outstanding candidate, in any order. Unknown ids are a ConfigError.
  template <Observer<Candidate, Proposal>... Observers>
  void tell(TrialId id, Evaluation evaluation, Observers&... observers);

  /// A candidate from outside (a seed, a person, an earlier run), to be evaluated like any other; empty when
  /// the budget is spent. `point` describes it in the policy's terms.
  template <Observer<Candidate, Proposal>... Observers>
  std::optional<Job<Candidate>> submit(Proposal point, Candidate candidate, Observers&... observers);

  /// A candidate from outside that was evaluated already: told at once, at no cost to the budget.
  template <Observer<Candidate, Proposal>... Observers>
  TrialId submit(Proposal point, Candidate candidate, Evaluation evaluation, Observers&... observers);

  /// Replaces what is known of a told trial and tells the policy again.
  template <Observer<Candidate, Proposal>... Observers>
  void revise(TrialId id, Evaluation evaluation, Observers&... observers);

  /// Brings a fresh optimizer to the state that the record describes; proposals that were outstanding are
  /// generated again first. ConfigError when the policy does not repeat what it proposed.
  void resume(const RunRecord<Candidate, Proposal>& record);

  /// The same without raising; after a fault the object is of no more use.
  [[nodiscard]] Result<void> try_resume(const RunRecord<Candidate, Proposal>& record);

  /// Gives up the outstanding candidates; they are neither told nor counted.
  void abandon_outstanding() { loop_.abandon_outstanding(); }

  [[nodiscard]] bool done() const noexcept { return loop_.done(); }
  [[nodiscard]] std::size_t outstanding() const noexcept { return loop_.outstanding(); }
  [[nodiscard]] const TrialLog<Candidate>& log() const noexcept { return loop_.log(); }
  [[nodiscard]] const std::deque<TrialType>& trials() const noexcept { return loop_.log().own_trials(); }
  /// The right trial with the lowest objective; null while there is none: before the first, or all failed.
  [[nodiscard]] const TrialType* best() const { return loop_.best(); }
  [[nodiscard]] RunProgress progress() const { return loop_.progress(); }
  [[nodiscard]] RunSummary summary() const { return loop_.summary(); }
  [[nodiscard]] Policy& policy() noexcept { return policy_; }
  [[nodiscard]] Gen& generator() noexcept { return generator_; }
  [[nodiscard]] Eval& evaluator() noexcept { return evaluator_; }

 private:
  using Parts = detail::PartsOf<Policy, Gen, Eval>;
  template <class... Observers>
  using Watched = detail::WatchedBy<Candidate, Proposal, Observers...>;

  Policy policy_;
  Gen generator_;
  Eval evaluator_;
  detail::Loop<Candidate, Proposal> loop_;
};

}  // namespace kernelsearch

#include "kernelsearch/optimizer/impl/loop_impl.hpp"
#include "kernelsearch/optimizer/impl/loop_instances.hpp"
#include "kernelsearch/optimizer/impl/optimizer_impl.hpp"
