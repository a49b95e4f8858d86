// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/objectives.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// A trial with the value of each objective.
struct FrontTrial {
  TrialId id{};
  std::vector<double> values;  ///< in the order of the objectives, each in its own unit
  std::string settings;        ///< `name=value` of each tunable
};

/// The right trials of a run that no other one is better than in all objectives, by the first one.
struct ParetoFront {
  Objectives objectives;
  std::vector<FrontTrial> trials;
  std::vector<std::string> unchecked = {};  ///< names of objectives whose values are the kernels' own word

  [[nodiscard]] bool is_unchecked(const Objective& objective) const;
  /// As better_words().
  [[nodiscard]] std::string words_of(const Objective& objective) const;
};

/// Whether an objective reads a metric of the evaluation that is the kernel's own word: an output with
/// `"check": false`.
[[nodiscard]] bool is_unchecked(const Objective& objective, const Evaluation& evaluation);

/// `lower is better`, or `higher is better, as the kernel says` of one that nothing checks.
[[nodiscard]] std::string better_words(const Objective& objective, const Evaluation& evaluation);

/// What a stored run minimized or maximized: the time where its store says nothing else, or nothing that can
/// be understood.
[[nodiscard]] Objectives objectives_of(const RunInfo& run);

/// The front of a run; no trials where it went by the time alone.
[[nodiscard]] ParetoFront pareto_front_of(const RunStore& store, RunId run);

/// The right trial that is best in the objective of that name, the first told of equals; nothing where none
/// is right. ConfigError for a name that is not one of the run's objectives.
[[nodiscard]] std::optional<StoredTrial> best_trial_by(const RunStore& store, RunId run,
                                                       std::string_view objective);

/// The value of an objective for people: `time` in a unit of time, others with four digits.
[[nodiscard]] std::string format_objective(const Objective& objective, double value);

/// What a run's best came to, of the objective that its policy was told: a time, the value of its one
/// objective with the name, or the scalar of several.
[[nodiscard]] std::string format_best(const RunInfo& run, double objective);

/// What a right trial came to in each objective: `waste 1.006, higher is better`, with a `; ` between each
/// two and the scalar after several. The time of a call where that is all that counts.
[[nodiscard]] std::string format_objectives(const Objectives& objectives, const Outcome& outcome);

/// `name=value` of each tunable of a trial.
[[nodiscard]] std::string settings_line(const StoredTrial& trial);

}  // namespace kernelsearch
