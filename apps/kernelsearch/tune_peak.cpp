// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <utility>

#include "kernelsearch/systems/peak.hpp"
#include "system_run.hpp"

namespace kernelsearch::app {
namespace {

/// Measures the best again at the configuration that its tuning found.
struct TunedFinalists {
  template <class Search, class... Observers>
  void operator()(Search& search, const std::stop_token& stop, const FinalistSteps& steps,
                  Observers&... observers) const {
    struct AtTuned {
      Search& search;
      /// What runs is the kernel at the best point of the inner search.
      Candidate as_run(const Candidate& candidate) {
        return tuned(candidate, search.best()->outcome.evaluation.tuned_key);
      }
      void renew() { search.evaluator().inner().inner().renew(); }
      Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
        const Evaluation& known = search.best()->outcome.evaluation;
        Evaluation evaluation = search.evaluator().inner().inner().evaluate(as_run(candidate), context);
        evaluation.tuned_key = known.tuned_key;
        if (const auto trials = known.features.find("inner_trials"))
          evaluation.features.set("inner_trials", *trials);
        return evaluation;
      }
    } evaluator{search};
    measure_finalists_again(search, evaluator, stop, steps, observers...);
  }
};

}  // namespace

RunSummary run_peak(SystemRun& run, SystemJudge judge) {
  const TuneOptions& o = run.options();
  systems::PeakSettings settings;
  settings.library = TransformationLibrary(o.methods);
  settings.transformations.device = run.device;
  settings.transformations.prompts = PromptLibrary(o.methods);
  settings.transformations.stop = run.interrupt.token();
  settings.tuning.seed = o.seed;
  settings.loop = run.loop;
  systems::Peak<SystemJudge> search =
      systems::peak(run.models.model, run.problem, std::move(judge), settings);
  const NaturalTransformations transform = search.generator();
  return drive(
      std::move(search), run,
      lookup_in(run.store, [transform](Regions regions) { return transform.kernel_of(std::move(regions)); }),
      TunedFinalists{});
}

}  // namespace kernelsearch::app
