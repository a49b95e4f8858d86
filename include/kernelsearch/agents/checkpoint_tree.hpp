// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/history.hpp"
#include "kernelsearch/core/ids.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch {

/// A validated step of a workflow.
struct Checkpoint {
  std::string name;
  std::string parent;  ///< its name; empty: the first, or one from outside
  TrialId trial{};
  std::string transformation;  ///< that made it of its parent; empty for the first
  double objective = std::numeric_limits<double>::infinity();  ///< lower is better
  std::string tuned_key;  ///< `Space::key` of its best configuration, where it was tuned
  std::string note;       ///< what people and the workflow say of it
  bool closed = false;    ///< no work continues from here
  Regions regions;        ///< its code, where it was attached
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// Two checkpoints against each other.
struct CheckpointComparison {
  std::string common;                                ///< the nearest that both come from; empty: none
  std::vector<std::string> only_first, only_second;  ///< transformations since then
  double speedup = 0.0;  ///< of the second over the first; 0 where one has no time
  std::string diff;      ///< of the lines of their regions, `-` first, `+` second; empty without code
};

/// The checkpoints of a workflow and its branches, like a version control's (PEAK, section 3.4): listed,
/// named, compared, restored, branched, saved as JSON that people edit (docs/formats/checkpoints.md).
class CheckpointTree {
 public:
  struct Branch {
    std::string name, tip;  ///< tip: a checkpoint, empty before the first
    friend bool operator==(const Branch&, const Branch&) = default;
  };

  CheckpointTree() : branches_{{"main", {}}}, active_("main") {}

  /// Adds it under its name, or that with the next free number, and returns the name that it got. ConfigError
  /// where the parent is not known.
  std::string add(Checkpoint checkpoint);

  [[nodiscard]] std::span<const Checkpoint> list() const noexcept { return checkpoints_; }
  [[nodiscard]] const Checkpoint* find(std::string_view name) const noexcept;
  [[nodiscard]] const Checkpoint* find(TrialId trial) const noexcept;
  /// ConfigError with the nearest for a name that is not there.
  [[nodiscard]] const Checkpoint& at(std::string_view name) const;

  void rename(std::string_view from, const std::string& to);
  void set_note(std::string_view name, std::string note);
  /// Closes it for further work, or opens it again.
  void set_closed(std::string_view name, bool closed);
  void set_code(std::string_view name, Regions regions, std::string tuned_key);
  /// A later measurement of it.
  void set_objective(std::string_view name, double objective);

  [[nodiscard]] std::span<const Branch> branches() const noexcept { return branches_; }
  [[nodiscard]] const std::string& active_branch() const noexcept { return active_; }
  /// The tip of the active branch; null before the first checkpoint.
  [[nodiscard]] const Checkpoint* current() const noexcept;
  /// Moves the tip of the active branch to it; later checkpoints stay listed.
  void restore(std::string_view name);
  /// A new branch with that tip, which becomes the active one.
  void branch(const std::string& name, std::string_view from);
  void switch_to(std::string_view branch);

  /// The names from the first to this one.
  [[nodiscard]] std::vector<std::string> path(std::string_view name) const;
  /// The transformations on that path, in order.
  [[nodiscard]] std::vector<std::string> transformations_on(std::string_view name) const;
  /// The open one with the lowest finite objective, the earliest of equals; null where there is none.
  [[nodiscard]] const Checkpoint* best() const noexcept;
  [[nodiscard]] CheckpointComparison compare(std::string_view first, std::string_view second) const;

  /// The tree as text, indented by descent, with objectives, gains over the first, tips and notes. `shown`
  /// says an objective in words; without it it is a number.
  [[nodiscard]] std::string describe(const std::function<std::string(double)>& shown = nullptr) const;

  [[nodiscard]] std::string to_json() const;
  /// ConfigError with `source`, line and place for what does not fit.
  [[nodiscard]] static CheckpointTree from_json(std::string_view json, const std::string& source);
  /// Writes a new file and puts it in the place of the old one.
  void save(const std::filesystem::path& file) const;
  [[nodiscard]] static CheckpointTree load(const std::filesystem::path& file);

  friend bool operator==(const CheckpointTree&, const CheckpointTree&) = default;

 private:
  [[nodiscard]] std::size_t index_of(std::string_view name) const;
  [[nodiscard]] Branch* find_branch(std::string_view name) noexcept;

  std::vector<Checkpoint> checkpoints_;  ///< parents before their children
  std::vector<Branch> branches_;
  std::string active_;
};

/// Gives the checkpoints the code and best configuration of their trials, so that a saved tree stands alone.
inline void attach_code(CheckpointTree& tree, const TrialLog<Candidate>& log) {
  for (std::size_t i = 0; i < tree.list().size(); ++i) {
    const Checkpoint& checkpoint = tree.list()[i];
    if (!log.contains(checkpoint.trial)) continue;
    const Trial<Candidate> trial = log.at(log.position_of(checkpoint.trial));
    if (trial.candidate)
      tree.set_code(checkpoint.name, trial.candidate->kernel->regions, trial.outcome.evaluation.tuned_key);
  }
}

}  // namespace kernelsearch
