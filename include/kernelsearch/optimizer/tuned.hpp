// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernelsearch/evaluator/evaluator_decorator.hpp"
#include "kernelsearch/evaluator/paired_with_parent.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/kernel_tuning.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/optimizer/tuned_options.hpp"
#include "kernelsearch/optimizer/tuning_policy.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// Makes a policy over configurations from what kernels like it were found to take (`PolicySetup::earlier`).
template <class M>
concept LearningPolicyMaker = requires(M& make, const Space& space, std::uint64_t seed,
                                       std::vector<EarlierRun> earlier) {
  requires SearchPolicy<decltype(make(space, seed, std::move(earlier)))>;
  requires std::same_as<typename decltype(make(space, seed, std::move(earlier)))::Proposal, Config>;
};

/// Makes the policy that searches the space of one kernel, with or without such knowledge.
template <class M>
concept ConfigPolicyMaker = LearningPolicyMaker<M> ||
    requires(M& make, const Space& space, std::uint64_t seed) {
  requires SearchPolicy<decltype(make(space, seed))>;
  requires std::same_as<typename decltype(make(space, seed))::Proposal, Config>;
};

/// An evaluator whose evaluation of a kernel is a search over that kernel's own tunables with `make(space,
/// seed)` and evaluator `E`: the outcome is the inner best, `Evaluation::tuned_key` says where it lies. It
/// stands with the loop, not with the evaluators, because it runs one. It neither builds in phases nor
/// compares: a candidate stands for a kernel here, not for one point of its space. One kernel is tuned at a
/// time, on all lanes of `E` and with `TunedOptions::builders` next to them.
///
/// The search begins with the candidate's own configuration and the kernel's default, then takes the best few
/// of the tunings that it knows: those of the trials that the candidate was made from, and those of the same
/// text, also from elsewhere (`lookup`). With a `LearningPolicyMaker` the policy is made with those of other
/// texts that say enough; what the others measured it is told (see `TuningPolicy`). A text that was given up
/// because nothing was right is not searched again: it costs one trial.
///
/// With `TunedOptions::pairs` the best of a kernel with one known parent is then timed in pairs next to that
/// parent's best: two searches end at different moments, and each shows the luckiest of its times.
///
/// Every inner trial is reported through the context and drawn from the shared budget; the outer evaluation
/// itself costs nothing. Inner outcomes are told in the order of proposals, so the search depends on the
/// kernel, the seed and those earlier tunings alone, and with a `Cached` inner evaluator an interrupted one
/// takes up where it was. A resumed run gives what it knew with `remember`.
template <ConfigPolicyMaker MakePolicy, Evaluator<Candidate> E>
class Tuned : public ContextDecorator<E> {
 public:
  static constexpr bool draws_own_budget = true;

  Tuned(MakePolicy make, E inner, TunedOptions options = {}, TuningLookup lookup = {})
      : ContextDecorator<E>(SingleInner<E>(std::move(inner))),
        make_(std::move(make)),
        options_(std::move(options)),
        lookup_(std::move(lookup)) {}

  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    if (const TuningPointer failed = given_up(*candidate.kernel)) return repeated(*failed, context);
    const Kernel& kernel = *candidate.kernel;
    Inner inner{&this->inner(), context.incumbent};
    OptimizerOptions options;
    options.budget = std::make_shared<TrialBudget>(options_.max_trials, context.budget);
    options.stop = context.stop;
    options.objectives = options_.objectives;
    options.build_threads = std::max<std::size_t>(1, builders(inner.lanes()));
    options.in_flight = in_flight(inner.lanes());
    Optimizer search(policy_for(candidate, context), TemplateGenerator(candidate.kernel), inner,
                     std::move(options));
    Reporter reporter{context, kernel.space, {candidate.kernel, {}, {}}};
    const RunSummary summary = search.run(reporter);
    if (search.trials().empty())
      return Evaluation::failed(Verdict::rejected, "no configuration was tried: " + summary.reason);
    const Trial<Candidate>& best = search.best() != nullptr ? *search.best() : furthest(search.trials());
    Evaluation evaluation = best.outcome.evaluation;
    if (evaluation.verdict == Verdict::ok) evaluation.tuned_key = kernel.space.key(best.candidate->config);
    evaluation.features.set("inner_trials", static_cast<double>(summary.trials));
    evaluation.phases = reporter.spent;
    if constexpr (PairingEvaluator<E, Candidate>) pair(*best.candidate, context, evaluation);
    reporter.tuning.outcome = evaluation;
    remember(context.trial, std::move(reporter.tuning));
    return evaluation;
  }

  /// Makes known what tuning the kernel of a trial found, as this object's own evaluations do.
  void remember(TrialId trial, KernelTuning tuning) {
    auto shared = std::make_shared<const KernelTuning>(std::move(tuning));
    const std::lock_guard lock(known_->mutex);
    TuningPointer& of_text = known_->by_text[text_of(*shared->kernel)];
    if (!of_text || of_text->points.size() <= shared->points.size()) of_text = shared;
    known_->by_trial.insert_or_assign(number(trial), std::move(shared));
  }

 private:
  using TuningPointer = std::shared_ptr<const KernelTuning>;

  /// The one inner evaluator, borrowed by each inner search; it knows the outer incumbent too.
  struct Inner : detail::SameArtifact<E> {
    Inner(E* e, std::optional<double> incumbent) : evaluator(e), outer_incumbent(incumbent) {}
    Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
      return evaluator->evaluate(candidate, merged(context));
    }
    Staged<ArtifactOf<E>> build(const Candidate& candidate,
                                const EvaluationContext& context) requires StagedEvaluator<E, Candidate> {
      return evaluator->build(candidate, merged(context));
    }
    Evaluation run(Staged<ArtifactOf<E>>&& staged,
                   const EvaluationContext& context) requires StagedEvaluator<E, Candidate> {
      return evaluator->run(std::move(staged), merged(context));
    }
    [[nodiscard]] std::size_t lanes() const {
      if constexpr (requires(const E& e) { e.lanes(); })
        return std::max<std::size_t>(1, static_cast<std::size_t>(evaluator->lanes()));
      else
        return 1;
    }

    E* evaluator;
    std::optional<double> outer_incumbent;

   private:
    [[nodiscard]] EvaluationContext merged(EvaluationContext context) const {
      if (outer_incumbent && (!context.incumbent || *outer_incumbent < *context.incumbent))
        context.incumbent = outer_incumbent;
      return context;
    }
  };

  struct Reporter {
    const EvaluationContext& context;
    const Space& space;
    KernelTuning tuning;
    PhaseSeconds spent{};
    void on_trial(const Trial<Candidate>& trial, const Config& config) {
      const Evaluation& evaluation = trial.outcome.evaluation;
      spent.build += evaluation.phases.build;
      spent.check += evaluation.phases.check;
      spent.measure += evaluation.phases.measure;
      spent.reference += evaluation.phases.reference;
      if (context.on_inner) context.on_inner({tuning.points.size(), space.key(config), evaluation});
      tuning.points.push_back({config, evaluation.verdict, evaluation.measurement.seconds});
    }
  };

  /// The tunings of trials, and the longest of each text.
  struct Known {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, TuningPointer> by_trial;
    std::unordered_map<std::string, TuningPointer> by_text;
  };

  [[nodiscard]] static std::string text_of(const Kernel& kernel) {
    return kernel.regions.macros + '\0' + kernel.regions.device + '\0' + kernel.regions.host;
  }

  [[nodiscard]] std::uint64_t seed_for(const Kernel& kernel) const {
    Rng rng = Rng::stream(options_.seed, text_of(kernel));
    return rng();
  }

  [[nodiscard]] std::size_t builders(std::size_t lanes) const {
    return options_.builders == 0 && lanes > 1 ? lanes : options_.builders;
  }

  /// Enough that no lane waits, but not so many that a small search is over before it has learnt anything.
  [[nodiscard]] std::size_t in_flight(std::size_t lanes) const {
    if (builders(lanes) == 0) return 1;
    const auto share = static_cast<std::size_t>(std::min<std::uint64_t>(options_.max_trials, 1U << 20) / 4);
    return std::min(builders(lanes) + 2 * lanes, std::max(2 * lanes, share));
  }

  /// None was right: the one that came furthest says most about the kernel.
  [[nodiscard]] static const Trial<Candidate>& furthest(const std::deque<Trial<Candidate>>& trials) {
    return *std::max_element(trials.begin(), trials.end(), [](const auto& a, const auto& b) {
      return a.outcome.evaluation.progress < b.outcome.evaluation.progress;
    });
  }

  /// The tuning of the same text that was given up; null where there is none. One that a stop or the budget
  /// cut short is not one.
  [[nodiscard]] TuningPointer given_up(const Kernel& kernel) const {
    TuningPointer known = of_text(kernel);
    if (!known || std::any_of(known->points.begin(), known->points.end(),
                              [](const TunedPoint& point) { return point.verdict == Verdict::ok; }))
      return nullptr;
    std::uint64_t enough = options_.max_trials;
    if (options_.hopeless != 0) enough = std::min(enough, options_.hopeless);
    if (kernel.space.count().fits_u64()) enough = std::min(enough, kernel.space.count().low());
    return known->points.size() >= enough ? known : nullptr;
  }

  /// What is known of a text that was given up. It costs a trial, or a policy could ask for it without end.
  [[nodiscard]] Evaluation repeated(const KernelTuning& known, const EvaluationContext& context) {
    if (context.budget && !context.budget->take())
      return Evaluation::failed(Verdict::rejected, "no configuration was tried: the trial budget is spent");
    Evaluation evaluation = known.outcome;
    evaluation.phases = {};
    evaluation.features.set("inner_trials", 1.0);
    if (context.on_inner)
      context.on_inner({0, known.kernel->space.key(known.kernel->space.default_config()), evaluation});
    return evaluation;
  }

  /// Times the best next to the parent's.
  void pair(const Candidate& candidate, const EvaluationContext& context, Evaluation& evaluation) {
    if (!options_.pairs || evaluation.verdict != Verdict::ok || context.parents.size() != 1 ||
        context.stop.stop_requested())
      return;
    const std::optional<Candidate> parent = best_of(context.parents.front());
    if (!parent) return;
    PairOptions pairs = *options_.pairs;
    pairs.stop = context.stop;
    detail::pair_with_parent(this->inner(), candidate, *parent, pairs, evaluation);
  }

  /// The fastest that tuning the kernel of a trial found; nothing where none was right, or none is known.
  [[nodiscard]] std::optional<Candidate> best_of(TrialId trial) const {
    const std::lock_guard lock(known_->mutex);
    const auto found = known_->by_trial.find(number(trial));
    if (found == known_->by_trial.end()) return std::nullopt;
    const TunedPoint* best = nullptr;
    for (const TunedPoint& point : found->second->points)
      if (right(point) && (best == nullptr || point.seconds < best->seconds)) best = &point;
    if (best == nullptr) return std::nullopt;
    return Candidate{found->second->kernel, best->config};
  }

  [[nodiscard]] TuningPointer of_text(const Kernel& kernel) const {
    const std::lock_guard lock(known_->mutex);
    const auto found = known_->by_text.find(text_of(kernel));
    return found == known_->by_text.end() ? nullptr : found->second;
  }

  /// The policy of the search over this kernel.
  [[nodiscard]] auto policy_for(const Candidate& candidate, const EvaluationContext& context) {
    const Kernel& kernel = *candidate.kernel;
    const std::vector<Config> own{candidate.config, kernel.space.default_config()};
    const TuningPolicyOptions how{.carried = options_.carried, .hopeless = options_.hopeless};
    std::vector<TuningPointer> told = earlier_than(candidate, context);
    if constexpr (LearningPolicyMaker<MakePolicy>) {
      // What was measured of this very text needs no model between it and the policy.
      const auto others = std::stable_partition(told.begin(), told.end(), [&](const TuningPointer& tuning) {
        return text_of(*tuning->kernel) == text_of(kernel) || !says_enough(*tuning, kernel.space);
      });
      const std::vector<TuningPointer> learned(others, told.end());
      told.erase(others, told.end());
      std::vector<EarlierRun> runs;
      for (const TuningPointer& tuning : learned) runs.push_back(earlier_run(*tuning, kernel.space));
      return TuningPolicy(make_(kernel.space, seed_for(kernel), std::move(runs)), kernel.space, own, told,
                          how, learned);
    } else {
      return TuningPolicy(make_(kernel.space, seed_for(kernel)), kernel.space, own, told, how);
    }
  }

  /// What a search over this kernel starts from, the nearest first.
  [[nodiscard]] std::vector<TuningPointer> earlier_than(const Candidate& candidate,
                                                        const EvaluationContext& context) const {
    std::vector<TuningPointer> earlier;
    const auto add = [&earlier](TuningPointer tuning) {
      if (tuning && std::find(earlier.begin(), earlier.end(), tuning) == earlier.end())
        earlier.push_back(std::move(tuning));
    };
    const auto add_elsewhere = [&](const Kernel& kernel) {
      if (lookup_)
        for (TuningPointer& tuning : lookup_(kernel)) add(std::move(tuning));
    };
    add(of_text(*candidate.kernel));
    add_elsewhere(*candidate.kernel);
    for (const TrialId parent : context.parents) {
      TuningPointer tuning;
      {
        const std::lock_guard lock(known_->mutex);
        const auto found = known_->by_trial.find(number(parent));
        if (found != known_->by_trial.end()) tuning = found->second;
      }
      if (!tuning) continue;
      add(tuning);
      add_elsewhere(*tuning->kernel);
    }
    return earlier;
  }

  MakePolicy make_;
  TunedOptions options_;
  TuningLookup lookup_;
  std::unique_ptr<Known> known_ = std::make_unique<Known>();
};

}  // namespace kernelsearch
