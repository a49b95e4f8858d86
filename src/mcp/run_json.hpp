// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kernelsearch/core/objectives.hpp"
#include "kernelsearch/run/run_manager.hpp"

/// Runs and trials as the tools give them.
namespace kernelsearch::detail {

/// What a stored run minimizes or maximizes.
[[nodiscard]] Objectives run_objectives(const RunManager& manager, RunId run);
/// Name, value, unit and direction of each of a right trial's objectives; empty where the time is all.
[[nodiscard]] nlohmann::json objectives_json(const Objectives& objectives, const Evaluation& evaluation);
/// A trial with what matters to the one who wrote it; `shapes`: with the timing of each.
[[nodiscard]] nlohmann::json trial_json(const StoredTrial& trial, const Objectives& objectives, bool shapes);
/// How a run stands.
[[nodiscard]] nlohmann::json run_json(const RunManager& manager, RunId run);
[[nodiscard]] nlohmann::json move_json(const Move& move);

/// A line or a few for a reader.
[[nodiscard]] std::string trial_text(const StoredTrial& trial, const Objectives& objectives);
/// `run` is what run_json() gave.
[[nodiscard]] std::string run_text(const RunManager& manager, const nlohmann::json& run);
/// Both are right trials: `takes 0.500 of the time of trial 3`, or the same of each objective.
[[nodiscard]] std::string against_text(const Objectives& objectives, const Outcome& trial,
                                       const Outcome& other);
/// What counts in a run, for the one who writes its kernels; empty where it is the time alone.
[[nodiscard]] std::string goal_text(const Objectives& objectives);
[[nodiscard]] std::string move_text(const Move& move);

/// What a verdict means, and what its author should do.
[[nodiscard]] std::string_view verdict_meaning(Verdict verdict) noexcept;
[[nodiscard]] std::string_view verdict_advice(Verdict verdict) noexcept;

}  // namespace kernelsearch::detail
