// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/core/ids.hpp"
#include "kernelsearch/core/outcome.hpp"

/// What can be asked of trials that a run has, besides its search.
namespace kernelsearch {

/// A search over the tunables of one trial's kernel.
struct TuneRequest {
  std::optional<TrialId> trial = {};  ///< nothing: the best, else the problem's kernel
  std::uint64_t trials = 20;          ///< configurations to judge at most; each is a trial of the run
  std::string policy = "bayesian";    ///< one of `config_policies()`, with its options
};

struct TuneReport {
  TrialId of{};                      ///< whose kernel was tuned
  std::vector<TrialId> trials = {};  ///< of this search, in the order told
  std::optional<TrialId> best = {};  ///< the fastest of them and of those that the kernel had before
  bool stopped = false;              ///< someone asked to stop
  std::string reason = {};           ///< why it ended
};

/// What a right kernel shows when it is looked into.
struct ProfileReport {
  Evaluation evaluation = {};             ///< the trial's, with what was observed among its features
  std::vector<std::string> missing = {};  ///< what could not be observed on this machine, in words
  bool stopped = false;
};

/// What validators say of a right kernel.
struct ValidationReport {
  std::string checked = {};                  ///< what was looked for
  std::optional<Evaluation> objection = {};  ///< what is wrong, which is then the trial's evaluation
  bool stopped = false;
};

}  // namespace kernelsearch
