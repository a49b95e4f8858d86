// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/runtime/plan.hpp"

namespace kernelsearch {

/// The identity of what this machine measures the problem on: its processor, or the GPU of this number. A
/// DeviceError where there is none.
[[nodiscard]] std::string measuring_device(const Problem& problem, int gpu = 0);

/// Whether a plan can be applied to a problem on a device.
struct PlanCheck {
  std::vector<std::string> faults;  ///< why it, or a part of it, cannot be used; empty: it can
  std::vector<std::string> notes;   ///< what it says, and what else there is to know
  /// The parts of the problem as it is, with this kernel, on this device.
  std::vector<std::size_t> parts;
};

/// Compares names, digests and device, and tests that all settings are configurations of the kernel's space.
[[nodiscard]] PlanCheck check_plan(const Plan& plan, const Problem& problem, const std::string& device);

/// What `apply_plan` wrote and chose.
struct AppliedPlan {
  std::vector<std::pair<std::string, std::filesystem::path>> files;  ///< `source`, `settings`, `table`
  std::vector<NamedValue> values;  ///< of source and settings; empty where they were not written
  std::string why;                 ///< where these come from, or why they were not written
};

/// Writes source and settings header for a shape, as `write_winner` names them, and adds what the plan says
/// of all shapes to the run-time table. Without a shape source and header are written where one
/// configuration serves all that the plan has. A shape that the plan knows nothing near has the default.
/// ConfigError with the first fault where the plan does not match.
AppliedPlan apply_plan(const Plan& plan, const Problem& problem, const std::string& device,
                       const std::filesystem::path& folder,
                       const std::optional<std::vector<NamedValue>>& shape = std::nullopt);

}  // namespace kernelsearch
