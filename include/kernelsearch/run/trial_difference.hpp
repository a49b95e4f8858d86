// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// A tunable that two trials have at different values, each as text; of a tunable that only one has the other
/// is `absent`.
struct ChangedSetting {
  std::string name, before, after;
};

/// In what a trial differs from another one.
struct TrialDifference {
  std::vector<ChangedSetting> settings;
  std::vector<KernelRegion> regions;  ///< whose text differs
  std::string diff;                   ///< the lines that only one has, `-` before and `+` after
  [[nodiscard]] bool settings_alone() const noexcept { return regions.empty() && !settings.empty(); }
};

/// What `after` has that `before` has not; trials of one store.
[[nodiscard]] TrialDifference difference_between(const RunStore& store, const StoredTrial& before,
                                                 const StoredTrial& after);

/// What a failed trial most likely failed for, going by how it differs from its parent: settings, code or
/// both. Empty for a right trial, and where the difference says nothing.
[[nodiscard]] std::string likely_cause(const StoredTrial& parent, const StoredTrial& trial,
                                       const TrialDifference& difference);

}  // namespace kernelsearch
