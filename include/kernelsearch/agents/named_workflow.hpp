// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/agents/transformation_library.hpp"
#include "kernelsearch/agents/workflow.hpp"
#include "kernelsearch/core/features.hpp"
#include "kernelsearch/model/roofline.hpp"

namespace kernelsearch {

/// A sequence of transformations under a name: data/workflows/NAME.json (docs/formats/workflows.md).
struct NamedWorkflow {
  std::string name;
  std::string description;
  std::string source;  ///< where the sequence comes from
  WorkflowOrder order = WorkflowOrder::listed;
  std::vector<std::string> backends;  ///< that it is for; empty: all
  std::vector<std::string> traits;    ///< that a problem must have, all of them; empty: none
  /// For an open one: it is the order of kernels that are short of this, where no workflow is named.
  std::optional<Axis> short_of;
  std::vector<std::string> transformations;
};

/// What transformations are for: a backend, and what is known of the problem's traits.
struct WorkflowSubject {
  std::string backend;
  Features traits = {};  ///< `trait_features` of the problem; a trait that is absent is not known
  std::vector<std::string> present = {};  ///< transformations that the kernel has already
};

/// Reads one; ConfigError with file, line and place for one that does not fit
/// docs/formats/workflow.schema.json.
[[nodiscard]] NamedWorkflow parse_workflow(std::string_view json, const std::string& file);

/// Those that are compiled in, with `user`/workflows/*.json, sorted by name.
[[nodiscard]] std::vector<NamedWorkflow> read_workflows(const std::filesystem::path& user = {});

/// The one of that name, or of the file where it is a path (it ends in .json or has a slash). ConfigError
/// with the nearest name where there is none.
[[nodiscard]] NamedWorkflow find_workflow(const std::string& name_or_file,
                                          const std::filesystem::path& user = {});

/// The transformations of this library as the workflow applies them to the subject, with what each builds on
/// (`transformations`, `order`, `after`, `present` and `orders` of the options).
///
/// With `named`, or with names in `options`: a list is taken as it stands. ConfigError for a transformation
/// that is unknown, is for another backend, or asks for a trait that the problem lacks, for one that stands
/// before what it builds on, and for a workflow that is for other backends or traits. For an open workflow
/// what does not fit is left out.
///
/// Without either: all that fit the backend and of whose traits the problem is known to have each, in one
/// order for each of the axes, from the open workflow with `short_of` that fits and asks for most traits. A
/// transformation stands behind those that it builds on, which are drawn forward with it; one that no
/// workflow lists (a user's own) comes first.
[[nodiscard]] WorkflowOptions planned_workflow(WorkflowOptions options, const TransformationLibrary& library,
                                               const WorkflowSubject& subject,
                                               std::span<const NamedWorkflow> workflows,
                                               const NamedWorkflow* named = nullptr);

/// What `planned_workflow` settled, as JSON; and the same read back over the options. ConfigError for a text
/// that is none.
[[nodiscard]] std::string workflow_plan_text(const WorkflowOptions& options);
[[nodiscard]] WorkflowOptions with_workflow_plan(WorkflowOptions options, std::string_view text);

}  // namespace kernelsearch
