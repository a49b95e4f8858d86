// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/agents/checkpoint_edit.hpp"
#include "kernelsearch/agents/checkpoint_tree.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// What a run does with its checkpoints.
enum class CheckpointUse : std::uint8_t {
  workflow,   ///< each right kernel is one, and the run goes on from the current one (`peak`)
  submitted,  ///< trials under names; kernels that are handed in without a parent go on from the current one
  named,      ///< trials under names
};

/// The checkpoints of a stored run, like a version control's: named, compared, restored, branched. They are
/// made of the run's record, so they are always those that the run goes on with, and changes of them join
/// that record. `kernelsearch checkpoints` and the tool of the MCP server are its callers.
class RunCheckpoints {
 public:
  /// A StoreError where there is no such run; a ConfigError where its workflow cannot be made again.
  RunCheckpoints(RunStore& store, RunId run);
  /// The same to be read alone: `change` is a ConfigError.
  RunCheckpoints(const RunStore& store, RunId run);

  [[nodiscard]] const CheckpointTree& tree() const noexcept { return tree_; }
  [[nodiscard]] CheckpointUse use() const noexcept { return use_; }

  /// Does it, keeps it, and says what it means in a line. ConfigError, and nothing changed, where it does not
  /// fit (`apply`), where the run goes on from no checkpoints, where only a right kernel can be one, and
  /// where another process works on the run; `working_here`: it is this process that does.
  std::string change(const CheckpointEdit& edit, bool working_here = false);

  /// The tree as text, with what each came to in what the run minimizes or maximizes.
  [[nodiscard]] std::string describe() const;

  /// The two against each other in words, without the lines that differ.
  [[nodiscard]] std::string compared(const std::string& first, const std::string& second) const;

 private:
  void read();
  void read_workflow();
  void read_named();
  void name_trial(const CheckpointEdit& edit);
  void check(const CheckpointEdit& edit) const;

  const RunStore* store_;
  RunStore* changed_ = nullptr;  ///< the same store; null: it is only read
  RunId run_;
  CheckpointUse use_ = CheckpointUse::named;
  CheckpointTree tree_;
};

/// The changes of a run's checkpoints with their places in its record, for the system that goes on with it.
[[nodiscard]] std::vector<PlacedCheckpointEdit> placed_checkpoint_edits(const RunStore& store, RunId run);

}  // namespace kernelsearch
