// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "kernelsearch/core/objectives.hpp"
#include "kernelsearch/problem/problem.hpp"

// Metrics: outputs of one number that become features of an evaluation, by their names.
namespace kernelsearch::detail {

/// The bound of an output that is not checked: any finite number is within it. It is kept as a tolerance, so
/// that what compares outputs needs no case of its own, and NaN and infinities stay wrong.
[[nodiscard]] inline Tolerance unchecked_tolerance() noexcept {
  Tolerance tolerance{std::numeric_limits<double>::max(), 0.0};
  tolerance.infinities = Infinities::none;  // such a bound would let them pass as overflow
  return tolerance;
}

/// Whether an argument is an output of a single number for every shape.
[[nodiscard]] inline bool is_single_number(const Argument& argument) {
  if (!argument.is_output() || argument.structure || argument.complex || !argument.size) return false;
  if (is_packed(argument.type) || is_small_float(argument.type) || argument.type == ElementType::boolean)
    return false;
  if (!argument.size->names().empty()) return false;
  const std::optional<Value> size = argument.size->try_evaluate({});
  return size && *size == Value{std::int64_t{1}};
}

/// Whether an output is only what the kernel says: `"check": false` in problem.json.
[[nodiscard]] inline bool is_unchecked(const Argument& argument) {
  return argument.tolerance && argument.tolerance->absolute == unchecked_tolerance().absolute &&
         is_single_number(argument);
}

/// Whether an objective reads a feature of exactly this name.
[[nodiscard]] inline bool reads_feature(const Objectives& objectives, const std::string& name) {
  return std::any_of(objectives.rows().begin(), objectives.rows().end(), [&](const Objective& row) {
    const auto& names = row.value.names();
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

/// The arguments that are metrics: outputs that are not checked, and outputs of one number that an objective
/// reads. Others say nothing of a kernel: a sum of random inputs is not a property of what adds them up.
[[nodiscard]] inline std::vector<std::size_t> metrics_of(const Problem& problem) {
  std::vector<std::size_t> metrics;
  for (std::size_t a = 0; a < problem.arguments.size(); ++a)
    if (const Argument& one = problem.arguments[a];
        is_unchecked(one) || (is_single_number(one) && reads_feature(problem.objectives, one.name)))
      metrics.push_back(a);
  return metrics;
}

}  // namespace kernelsearch::detail
