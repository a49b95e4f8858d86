// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/value.hpp"
#include "kernelsearch/runtime/plan.hpp"

namespace kernelsearch::detail {

using PlanShape = std::vector<std::pair<std::string, Value>>;

/// A total order of shapes: by names, then by values, numbers as numbers.
[[nodiscard]] bool shape_before(const PlanShape& a, const PlanShape& b);
/// Equal in names and values, in whichever order they are written.
[[nodiscard]] bool same_shape(const PlanShape& a, const PlanShape& b);

/// What the parts of one problem, kernel and device have in common.
[[nodiscard]] std::vector<std::string> part_key(const ProblemPlan& part);

/// The larger lower end of the interval over the default, then the ratio, then more pairs, then the shorter
/// time, then the settings as text, so that two entries never tie unless they say the same.
[[nodiscard]] bool better_proven(const PlanEntry& a, const PlanEntry& b);

/// `TILE=8 FAST=true`.
[[nodiscard]] std::string values_text(const PlanShape& values);

}  // namespace kernelsearch::detail
