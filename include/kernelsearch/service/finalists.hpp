// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <stop_token>
#include <utility>

#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/evaluator/evaluation_context.hpp"

namespace kernelsearch {

/// Measures the best again, in a fresh process with new inputs and in pairs with the reference, until the
/// best is one that was measured again: the winner is then not the luckiest of many noisy samples, and its
/// speedup is known. `tell` hears of each before it is measured.
template <class Search, class E, class... Observers>
void measure_finalists_again(Search& search, E& evaluator, const std::stop_token& stop,
                             const std::function<void(TrialId)>& tell, Observers&... observers) {
  constexpr std::size_t most = 10;  // a machine too noisy to agree with itself must not keep the user waiting
  std::set<TrialId> again;
  while (search.best() != nullptr && again.size() < most && again.insert(search.best()->outcome.id).second) {
    const TrialId id = search.best()->outcome.id;
    if (tell) tell(id);
    if constexpr (requires { evaluator.renew(); }) evaluator.renew();
    EvaluationContext context;
    context.stop = stop;
    Evaluation evaluation = evaluator.evaluate(*search.best()->candidate, context);
    if (stop.stop_requested()) return;
    search.revise(id, std::move(evaluation), observers...);
  }
}

}  // namespace kernelsearch
