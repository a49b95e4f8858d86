// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>

#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/evaluator/evaluation_context.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch {

/// Looks for faults that judging may not show; what it finds replaces the finalist's evaluation.
using FinalistValidator = std::function<std::optional<Evaluation>(const Candidate&)>;

/// What is done with a finalist besides measuring it again.
struct FinalistSteps {
  std::function<void(TrialId)> tell = nullptr;  ///< hears of each before it is looked at
  FinalistValidator validate = nullptr;         ///< where set, nothing wins that it objects to
};

/// Measures the best again, in a fresh process with new inputs and in pairs with the reference, until the
/// best is one that was measured again: the winner is then not the luckiest of many noisy samples, and its
/// speedup is known. A finalist that the validator objects to loses its verdict, and the next best takes its
/// place.
template <class Search, class E, class... Observers>
void measure_finalists_again(Search& search, E& evaluator, const std::stop_token& stop,
                             const FinalistSteps& steps, Observers&... observers) {
  constexpr std::size_t most = 10;  // a machine too noisy to agree with itself must not keep the user waiting
  std::set<TrialId> again;
  std::size_t measured = 0;
  while (search.best() != nullptr && again.insert(search.best()->outcome.id).second) {
    if (measured == most && !steps.validate) return;
    const TrialId id = search.best()->outcome.id;
    if (steps.tell) steps.tell(id);
    const Candidate candidate = [&]() -> Candidate {
      if constexpr (requires { evaluator.as_run(*search.best()->candidate); })
        return evaluator.as_run(*search.best()->candidate);
      else
        return *search.best()->candidate;
    }();
    std::optional<Evaluation> objection;
    if (steps.validate) objection = steps.validate(candidate);
    if (stop.stop_requested()) return;
    if (objection) {
      search.revise(id, std::move(*objection), observers...);
      continue;
    }
    if (measured == most) return;
    ++measured;
    if constexpr (requires { evaluator.renew(); }) evaluator.renew();
    EvaluationContext context;
    context.stop = stop;
    Evaluation evaluation = evaluator.evaluate(*search.best()->candidate, context);
    if (stop.stop_requested()) return;
    search.revise(id, std::move(evaluation), observers...);
  }
}

}  // namespace kernelsearch
