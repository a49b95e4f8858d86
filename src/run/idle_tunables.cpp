// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "idle_tunables.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/problem/kernel_launch.hpp"
#include "kernelsearch/problem/unused_tunables.hpp"
#include "shader/ready_module.hpp"

namespace kernelsearch::detail {
namespace {

/// Whether the text has the name anywhere: elements of an order are called NAME_0, and a comment costs only
/// time.
bool names(const Problem& problem, const Regions& regions, const std::string& name) {
  for (const KernelRegion region : kernel_regions)
    if (text_of(regions, region).find(name) != std::string::npos) return true;
  return std::any_of(problem.files.begin(), problem.files.end(),
                     [&](const SourceFile& file) { return file.text.find(name) != std::string::npos; });
}

}  // namespace

Candidate without_idle_tunables(const Problem& problem, const Candidate& candidate) {
  const Kernel& kernel = *candidate.kernel;
  if (is_ready_text(kernel.regions.device))
    return candidate;  // its constants are tunables, and no text has them
  Problem as_kernel = problem;
  as_kernel.kernel = kernel;
  if (const auto steps = try_launch_of(problem, kernel)) as_kernel.launch = *steps;
  const std::vector<bool> outside = tunables_outside_kernel(as_kernel);
  std::vector<Tunable> tunables(kernel.space.tunables().begin(), kernel.space.tunables().end());
  bool idle = false;
  std::vector<Constraint> constraints;
  for (std::size_t i = 0; i < tunables.size(); ++i) {
    const std::string& name = tunables[i].name;
    const bool read = std::any_of(tunables.begin(), tunables.end(), [&](const Tunable& one) {
      return one.active_if && one.active_if->text().find(name) != std::string::npos;
    });
    if (outside[i] || read || tunables[i].values.size() < 2 || names(problem, kernel.regions, name)) continue;
    const Value& held = kernel.space.value(candidate.config, i);
    // An order or a text cannot be written in an expression.
    if (!std::holds_alternative<std::int64_t>(held) && !std::holds_alternative<bool>(held)) continue;
    const std::string value =
        std::holds_alternative<bool>(held) ? (std::get<bool>(held) ? "True" : "False") : to_string(held);
    constraints.emplace_back(name + " == " + value);
    idle = true;
  }
  if (!idle) return candidate;
  for (const Constraint& constraint : kernel.space.constraints()) {
    const bool condition =
        !constraint.expression() && std::any_of(tunables.begin(), tunables.end(), [&](const Tunable& one) {
          return one.active_if && constraint.text() == one.name + " is active if " + one.active_if->text();
        });
    if (!condition) constraints.push_back(constraint);  // building adds those again
  }
  return {std::make_shared<const Kernel>(
              Kernel{kernel.regions, Space::build(std::move(tunables), std::move(constraints))}),
          candidate.config};
}

}  // namespace kernelsearch::detail
