// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernelsearch/agents/checkpoint_tree.hpp"
#include "kernelsearch/core/ids.hpp"

namespace kernelsearch {

/// Something that was done to the checkpoints of a run from outside.
struct CheckpointEdit {
  enum class Action : std::uint8_t { name, restore, branch, switch_to };

  Action action = Action::restore;
  std::string name;                      ///< of the checkpoint, or of the branch; of `name`: its new name
  std::string from = {};                 ///< of `branch`: the checkpoint that it begins with
  std::optional<TrialId> trial = {};     ///< of `name`: whose checkpoint it is
  std::optional<std::string> note = {};  ///< of `name`: in place of the note that it has
  friend bool operator==(const CheckpointEdit&, const CheckpointEdit&) = default;
};

/// The same with its place: after that many asks and outcomes of the run's record.
struct PlacedCheckpointEdit {
  std::size_t after = 0;
  CheckpointEdit edit;
};

/// Does it. ConfigError, and the tree as it was, where a name is unknown, taken or none, where the checkpoint
/// is closed, or where no checkpoint is of that trial.
void apply(const CheckpointEdit& edit, CheckpointTree& tree);

/// The JSON object that stores keep (docs/formats/checkpoints.md), and the same back; ConfigError for another
/// text.
[[nodiscard]] std::string to_json(const CheckpointEdit& edit);
[[nodiscard]] CheckpointEdit checkpoint_edit_from(std::string_view json);

}  // namespace kernelsearch
