// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>
#include <vector>

#include "kernelsearch/recorded/read_recording.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// What a run in our own store measured, as a recording: the latest outcome of each trial that had a
/// candidate. Without `options.space` the space is just what was recorded; nothing is looked for next to the
/// store. ConfigError where the run has no such trial.
[[nodiscard]] Recording recording_of(const RunStore& store, RunId run,
                                     const ReadRecordingOptions& options = {});

/// A recording as a store would keep it: a run of the policy `recording` without a number, and its trials.
[[nodiscard]] std::pair<RunRow, std::vector<StoredTrial>> stored_run_of(const Recording& recording);

}  // namespace kernelsearch
