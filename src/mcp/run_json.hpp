// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kernelsearch/run/run_manager.hpp"

/// Runs and trials as the tools give them.
namespace kernelsearch::detail {

/// A trial with what matters to the one who wrote it; `shapes`: with the timing of each.
[[nodiscard]] nlohmann::json trial_json(const StoredTrial& trial, bool shapes);
/// How a run stands.
[[nodiscard]] nlohmann::json run_json(const RunManager& manager, RunId run);
[[nodiscard]] nlohmann::json move_json(const Move& move);

/// A line or a few for a reader.
[[nodiscard]] std::string trial_text(const StoredTrial& trial);
[[nodiscard]] std::string run_text(const nlohmann::json& run);
[[nodiscard]] std::string move_text(const Move& move);

/// What a verdict means, and what its author should do.
[[nodiscard]] std::string_view verdict_meaning(const Evaluation& evaluation) noexcept;
[[nodiscard]] std::string_view verdict_advice(const Evaluation& evaluation) noexcept;

}  // namespace kernelsearch::detail
