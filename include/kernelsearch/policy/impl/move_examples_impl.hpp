// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <unordered_map>

#include "kernelsearch/policy/move_examples.hpp"
#include "kernelsearch/policy/moves_over_space.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE std::vector<MoveExample> move_examples(const SpaceStrategies& strategies,
                                                           std::span<const EarlierRun> runs,
                                                           MoveExamplesOptions options) {
  std::vector<MoveExample> examples;
  const std::vector<std::string> names = strategies.names();
  if (names.empty() || runs.empty()) return examples;
  const Encoding encoding(strategies.space());
  Rng rng = Rng::stream(options.seed, "move_examples");
  for (const EarlierRun& run : runs) {
    std::unordered_map<Config, double> known;
    std::vector<const EarlierOutcome*> right;
    for (const EarlierOutcome& outcome : run.outcomes) {
      known[outcome.config] = outcome.objective;
      if (std::isfinite(outcome.objective) && outcome.objective > 0.0 &&
          strategies.space().contains(outcome.config))
        right.push_back(&outcome);
    }
    if (right.empty()) continue;
    const std::size_t draws = options.pairs / runs.size();
    for (std::size_t draw = 0; draw < draws; ++draw) {
      const EarlierOutcome& parent = *right[rng.below(right.size())];
      const std::string& name = names[rng.below(names.size())];
      const Move move{
          MoveKind::rewrite, {TrialId{}}, {name}, static_cast<std::uint32_t>(rng.below(1u << 16))};
      const std::optional<Config> child =
          strategies.apply(move, std::span<const Config>(&parent.config, 1),
                           [&known](const Config& config) { return !known.contains(config); });
      if (!child) continue;
      MoveExample example;
      add_tunable_features(encoding, parent.config, example.features);
      example.strategy = name;
      TreeNode before, after;
      before.verdict = Verdict::ok;
      before.objective = parent.objective;
      after.objective = known.at(*child);
      after.verdict = std::isfinite(after.objective) ? Verdict::ok : Verdict::crashed;
      example.reward = options.reward(before, after);
      examples.push_back(std::move(example));
    }
  }
  return examples;
}

}  // namespace kernelsearch
