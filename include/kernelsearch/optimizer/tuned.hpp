// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "kernelsearch/evaluator/evaluator_decorator.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/optimizer/tuned_options.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// Makes the policy that searches the space of one kernel.
template <class M>
concept ConfigPolicyMaker = requires(M& make, const Space& space, std::uint64_t seed) {
  requires SearchPolicy<decltype(make(space, seed))>;
  requires std::same_as<typename decltype(make(space, seed))::Proposal, Config>;
};

/// An evaluator whose evaluation of a kernel is a search over that kernel's own tunables with `make(space,
/// seed)` and evaluator `E`: the outcome is the inner best, `Evaluation::tuned_key` says where it lies. It
/// stands with the loop, not with the evaluators, because it runs one. It neither builds in phases nor
/// compares: a candidate stands for a kernel here, not for one point of its space.
///
/// Every inner trial is reported through the context and drawn from the shared budget; the outer evaluation
/// itself costs nothing. The inner search depends only on the kernel's text and the seed, so with a `Cached`
/// inner evaluator an interrupted one takes up where it was.
template <ConfigPolicyMaker MakePolicy, Evaluator<Candidate> E>
class Tuned : public ContextDecorator<E> {
 public:
  static constexpr bool draws_own_budget = true;
  Tuned(MakePolicy make, E inner, TunedOptions options = {})
      : ContextDecorator<E>(SingleInner<E>(std::move(inner))), make_(std::move(make)), options_(options) {}

  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    OptimizerOptions options;
    options.budget = std::make_shared<TrialBudget>(options_.max_trials, context.budget);
    options.stop = context.stop;
    const Kernel& kernel = *candidate.kernel;
    Optimizer search(make_(kernel.space, seed_for(kernel)), TemplateGenerator(candidate.kernel),
                     Reference{&this->inner(), context.incumbent}, std::move(options));
    Reporter reporter{context, kernel.space};
    const RunSummary summary = search.run(reporter);
    if (const auto* best = search.best()) {
      Evaluation evaluation = best->outcome.evaluation;
      evaluation.tuned_key = kernel.space.key(best->candidate->config);
      evaluation.features.set("inner_trials", static_cast<double>(summary.trials));
      evaluation.phases = reporter.spent;
      return evaluation;
    }
    if (search.trials().empty())
      return Evaluation::failed(Verdict::rejected, "no configuration was tried: " + summary.reason);
    // None was right: the one that came furthest says most about the kernel.
    const Outcome* furthest = &search.trials().front().outcome;
    for (const auto& trial : search.trials())
      if (trial.outcome.evaluation.progress > furthest->evaluation.progress) furthest = &trial.outcome;
    Evaluation evaluation = furthest->evaluation;
    evaluation.phases = reporter.spent;
    return evaluation;
  }

 private:
  /// The one inner evaluator, borrowed by each inner search; it knows the outer incumbent too.
  struct Reference {
    E* evaluator;
    std::optional<double> outer_incumbent;
    Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
      EvaluationContext merged = context;
      if (outer_incumbent && (!merged.incumbent || *outer_incumbent < *merged.incumbent))
        merged.incumbent = outer_incumbent;
      return evaluator->evaluate(candidate, merged);
    }
  };
  struct Reporter {
    const EvaluationContext& context;
    const Space& space;
    PhaseSeconds spent{};
    std::uint64_t count = 0;
    void on_trial(const Trial<Candidate>& trial, const Config& config) {
      const Evaluation& evaluation = trial.outcome.evaluation;
      spent.build += evaluation.phases.build;
      spent.check += evaluation.phases.check;
      spent.measure += evaluation.phases.measure;
      if (context.on_inner) context.on_inner({count, space.key(config), evaluation});
      ++count;
    }
  };

  [[nodiscard]] std::uint64_t seed_for(const Kernel& kernel) const {
    Rng rng = Rng::stream(options_.seed,
                          kernel.regions.macros + '\0' + kernel.regions.device + '\0' + kernel.regions.host);
    return rng();
  }

  MakePolicy make_;
  TunedOptions options_;
};

}  // namespace kernelsearch
