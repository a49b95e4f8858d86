// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

#include "kernelsearch/core/ids.hpp"

namespace kernelsearch {

/// What a run did from one moment to another: a bar of its timeline. Moments are seconds of the run, as
/// `StoredTrial::elapsed` counts them.
struct RunSpan {
  /// `build`, `wait` (a built candidate for its device), `check`, `measure`, `compare` (in pairs), `model` (a
  /// reply was awaited), `finalists`.
  std::string work;
  std::string place;             ///< where: `core 3`, `GPU 0`, a lane's name; empty: nobody told
  std::optional<TrialId> trial;  ///< whose candidate it was; empty for work on none
  double began = 0.0, ended = 0.0;
  friend bool operator==(const RunSpan&, const RunSpan&) = default;
};

}  // namespace kernelsearch
