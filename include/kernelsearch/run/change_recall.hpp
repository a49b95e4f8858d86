// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/agents/recall.hpp"
#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/store/remembered_change.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// What remembered changes are compared with: where a prompt is asked from.
struct RecallScene {
  std::string problem;
  std::string backend;
  std::vector<std::string> traits;
  std::string device;
};

/// How much of the memory a prompt shows. The bounds are ours: about as much as one kernel of 100 lines.
struct RecallOptions {
  std::size_t successes = 3;      ///< with their diffs
  std::size_t failures = 5;       ///< in a line each
  std::size_t rows = 8;           ///< of the table of success
  std::size_t diff_bytes = 1500;  ///< of one diff
  std::size_t tokens = 1200;      ///< of all, estimated at three bytes a token
};

/// A row of the table of success: what came of a strategy on problems with a trait, asked of a model.
struct ChangeCount {
  std::string strategy;  ///< empty: the model's own choice
  std::string trait;     ///< empty: problems without traits
  std::string model;     ///< empty: no model was asked
  std::uint64_t tried = 0;
  std::uint64_t faster = 0;                  ///< surely, by the interval
  std::uint64_t failed = 0;                  ///< without a right kernel
  std::optional<double> median_effect = {};  ///< of the right ones
};

/// The table of success over these changes, by falling number of tries. Equal kernels made from equal ones by
/// one model on one device count once, whatever number of runs tried them.
[[nodiscard]] std::vector<ChangeCount> count_changes(const std::vector<RememberedChange>& changes);

/// Chooses the few changes that are closest to a kernel that is to be changed, and says them for a prompt.
///
/// For the same backend, those count that are of the same problem or share a trait with it. The nearest come
/// first: of the same problem; more traits in common; the same device, then its architecture; the same
/// limiter; a strategy of the move. Among equals the larger sure gain, then the newer.
class ChangeRecall {
 public:
  /// `changes` newest first.
  ChangeRecall(std::vector<RememberedChange> changes, RecallScene scene, RecallOptions options = {});

  /// Those that made a right kernel surely faster, the nearest first; at most RecallOptions::successes.
  [[nodiscard]] std::vector<const RememberedChange*> successes(
      std::string_view limiter, const std::vector<std::string>& strategies) const;
  /// Those that did not, and those that failed, each kind of failure of a problem once.
  [[nodiscard]] std::vector<const RememberedChange*> failures(
      std::string_view limiter, const std::vector<std::string>& strategies) const;

  /// Both, and the table of success for the scene's traits, within RecallOptions::tokens; empty where nothing
  /// is near.
  [[nodiscard]] std::string text(std::string_view limiter, const std::vector<std::string>& strategies) const;

 private:
  [[nodiscard]] std::vector<const RememberedChange*> nearest(std::string_view limiter,
                                                             const std::vector<std::string>& strategies,
                                                             bool faster) const;
  [[nodiscard]] std::string table(const std::vector<std::string>& strategies) const;

  std::vector<RememberedChange> changes_;  ///< those that count, newest first
  RecallScene scene_;
  RecallOptions options_;
};

/// What prompts about `problem` show of a store's memory, as it is now, on `device`; `until` is the last
/// change that counts, 0 for all. `peaks` tell what a kernel is limited by where nothing observed does.
[[nodiscard]] Recall recall_from(const RunStore& store, const Problem& problem, const std::string& device,
                                 std::optional<DevicePeaks> peaks = {}, std::int64_t until = 0);

/// The traits that a problem lists. Where it lists none, what its arrays say: `elementwise` where all have as
/// many elements on every shape, `reduction` where each output has fewer than some input.
[[nodiscard]] std::vector<std::string> memory_traits(const Problem& problem);

/// What a kernel is limited by, as `Bound` is written: by what was observed of it, else by counted work and
/// `peaks`; empty where neither says.
[[nodiscard]] std::string limiter_of(const Problem& problem, const Evaluation& evaluation,
                                     const std::optional<DevicePeaks>& peaks);

/// The parent's time divided by the child's: of the pairs in which they were timed where there are any, else
/// of both times, with the interval that both intervals give as independent errors; nothing where one was
/// not right.
[[nodiscard]] std::optional<ChangeEffect> effect_of_change(const Outcome& parent, const Outcome& child);

}  // namespace kernelsearch
