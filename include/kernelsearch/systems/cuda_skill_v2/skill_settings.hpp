// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

#include "kernelsearch/policy/roofline_budget.hpp"

namespace kernelsearch {

/// What repeats a search of RooflineBudget, as a JSON object for RunInfo::options: its numbers, the device,
/// and the ids of its methods.
[[nodiscard]] std::string skill_settings_json(const RooflineBudgetOptions& options);

/// The options again, with `methods`, of which those named are taken. ConfigError where one is missing: the
/// registry has changed, and the run would not repeat its proposals.
[[nodiscard]] RooflineBudgetOptions read_skill_settings(std::string_view json, std::vector<Method> methods);

}  // namespace kernelsearch
