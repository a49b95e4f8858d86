// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/finalists.hpp"

#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "kernelsearch/agents/feedback.hpp"

namespace kernelsearch {

bool same_candidate(const Candidate& a, const Candidate& b) {
  if (!(a.config == b.config)) return false;
  return a.kernel == b.kernel || (a.kernel && b.kernel && a.kernel->regions == b.kernel->regions);
}

void detail::mark_passed(const FinalistSteps& steps, Evaluation& evaluation) {
  if (steps.validate && !steps.passed.empty()) evaluation.features.set(steps.passed, 1);
}

std::vector<std::optional<Speedup>> detail::each_on_a_lane(
    std::size_t lanes, std::size_t count, const std::function<std::optional<Speedup>(std::size_t)>& what) {
  std::vector<std::optional<Speedup>> results(count);
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr first;
  const auto work = [&] {
    for (std::size_t i = 0; (i = next++) < count;) {
      try {
        results[i] = what(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < std::min(lanes, count); ++t) others.emplace_back(work);
    work();
  }
  if (first) std::rethrow_exception(first);
  return results;
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
    if (!chosen.empty()) {
      // Evaluators that give a time and no interval are taken at their word.
      const auto bound = [](const Trial<Candidate>* one, double Interval::*end) {
        const Measurement& measured = one->outcome.evaluation.measurement;
        return measured.interval.high > 0 ? measured.interval.*end : measured.seconds;
      };
      const double behind = bound(trial, &Interval::low) / bound(chosen.front(), &Interval::high);
      if (behind > (chosen.size() >= fewest_finalists ? 1 : hopeless)) continue;
    }
    chosen.push_back(trial);
  }
  std::vector<TrialId> ids;
  for (const Trial<Candidate>* trial : chosen) ids.push_back(trial->outcome.id);
  return ids;
}

std::string winner_remark(const Outcome& shown, const Outcome& winner) {
  constexpr double same = 0.01;
  const double before = shown.evaluation.measurement.seconds, now = winner.evaluation.measurement.seconds;
  const std::string won =
      "trial " + std::to_string(number(winner.id)) + " is the winner at " + time_text(now) + ": ";
  if (shown.id != winner.id)
    return won + "trial " + std::to_string(number(shown.id)) + ", which the search had shown at " +
           time_text(before) + ", lost when the finalists were measured again";
  if (std::abs(now / before - 1) < same) return {};
  return won + "the search had shown " + time_text(before) +
         " for it before the finalists were measured again";
}

}  // namespace kernelsearch
