// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/improvement.hpp"

#include <fmt/format.h>

#include "kernelsearch/report/format.hpp"
#include "kernelsearch/report/front.hpp"

namespace kernelsearch {

std::string no_improvement(const RunStore& store, RunId run) {
  const auto best = store.best_trial(run);
  // Pairs compare times: they say nothing of a winner by other objectives.
  if (!best || !objectives_of(store.run(run).info).only_time()) return {};
  const auto slower = [](const Speedup& speedup, std::string_view than) {
    return fmt::format("{} {}: {} in {} pairs",
                       speedup.interval.high < 1 ? "slower than" : "not surely faster than", than,
                       format_speedup(speedup), speedup.pairs);
  };
  if (const auto compared = store.finalists(run); compared && compared->winner == best->outcome.id) {
    if (compared->winner_is_default) return "it is the default configuration";
    for (const FinalistPair& pair : compared->pairs)
      if (pair.candidate == compared->winner && !pair.opponent && !(pair.speedup.interval.low > 1))
        return slower(pair.speedup, "the default configuration");
  }
  const auto& speedup = best->outcome.evaluation.measurement.speedup;
  if (speedup && !(speedup->interval.low > 1))
    return slower(*speedup, baseline_name(store.run(run).info.evaluator));
  return {};
}

}  // namespace kernelsearch
