// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/finalists.hpp"

namespace kernelsearch {

bool same_candidate(const Candidate& a, const Candidate& b) {
  if (!(a.config == b.config)) return false;
  return a.kernel == b.kernel || (a.kernel && b.kernel && a.kernel->regions == b.kernel->regions);
}

void detail::mark_passed(const FinalistSteps& steps, Evaluation& evaluation) {
  if (steps.validate && !steps.passed.empty()) evaluation.features.set(steps.passed, 1);
}

std::vector<TrialId> finalists_of(std::vector<const Trial<Candidate>*> trials) {
  std::stable_sort(trials.begin(), trials.end(), [](const Trial<Candidate>* a, const Trial<Candidate>* b) {
    return a->outcome.objective < b->outcome.objective;
  });
  std::vector<const Trial<Candidate>*> chosen;
  for (const Trial<Candidate>* trial : trials) {
    if (chosen.size() == most_finalists) break;
    const auto same = [trial](const Trial<Candidate>* known) {
      return known->outcome.evaluation.tuned_key == trial->outcome.evaluation.tuned_key &&
             same_candidate(*known->candidate, *trial->candidate);
    };
    if (std::any_of(chosen.begin(), chosen.end(), same)) continue;
    if (chosen.size() >= fewest_finalists) {
      // Evaluators that give a time and no interval are taken at their word.
      const auto bound = [](const Trial<Candidate>* one, double Interval::*end) {
        const Measurement& measured = one->outcome.evaluation.measurement;
        return measured.interval.high > 0 ? measured.interval.*end : measured.seconds;
      };
      if (bound(trial, &Interval::low) > bound(chosen.front(), &Interval::high)) continue;
    }
    chosen.push_back(trial);
  }
  std::vector<TrialId> ids;
  for (const Trial<Candidate>* trial : chosen) ids.push_back(trial->outcome.id);
  return ids;
}

}  // namespace kernelsearch
