// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/optimizer/observer.hpp"

namespace kernelsearch {

/// The text of a kernel under its content digest.
struct StoredKernel {
  std::string digest;
  std::string device;
  std::string host;
  std::string macros;
  friend bool operator==(const StoredKernel&, const StoredKernel&) = default;
};

/// A candidate as the store keeps it.
struct StoredCandidate {
  std::string kernel;         ///< digest of its kernel; empty for candidates that are not kernels
  std::string config;         ///< JSON that the candidate is made from again, together with the kernel
  std::string key;            ///< `Space::key` of the configuration
  std::string values = "{}";  ///< JSON object: tunable name to value, for people and exports
};

/// A trial as the store keeps it.
struct StoredTrial {
  std::uint64_t position = 0;  ///< in the order in which trials were told, from 0
  std::string point;           ///< JSON of the proposal: a configuration, a move, ...
  std::optional<StoredCandidate> candidate;
  Outcome outcome;       ///< the latest; revisions have replaced what was first told
  double elapsed = 0.0;  ///< seconds of the run when it was told
  std::string at;        ///< UTC, ISO 8601 with milliseconds
};

/// An inner trial with the trial whose evaluation it was part of.
struct StoredInnerTrial {
  TrialId parent{};
  InnerTrial trial;
};

/// What the search over the tunables of a trial's kernel measured.
struct StoredTuning {
  struct Point {
    std::string key;  ///< `Space::key` of the configuration
    Verdict verdict = Verdict::ok;
    double seconds = 0.0;  ///< meaningful when ok
  };
  StoredCandidate candidate;  ///< of the trial
  std::vector<Point> points;  ///< in the order of the inner trials
};

/// An evaluation kept for later runs.
struct StoredResult {
  Evaluation evaluation;
  std::string at;  ///< UTC, when it was kept
};

/// A trial was told with this outcome (not the latest, if it was revised since).
struct StoredTold {
  TrialId trial{};
  std::optional<Outcome> first;  ///< what was told, where a revision has replaced it
};

/// A told trial got a new outcome.
struct StoredRevision {
  TrialId trial{};
  Outcome outcome;
};

/// The run's checkpoints were changed while it stood still.
struct StoredCheckpointEdit {
  std::string edit;  ///< a JSON object, docs/formats/checkpoints.md#changes
};

/// What a policy went through, one after another.
using StoredEvent = std::variant<AskEvent, StoredTold, StoredRevision, StoredCheckpointEdit>;

}  // namespace kernelsearch
