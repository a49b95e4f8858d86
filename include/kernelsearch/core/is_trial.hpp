// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/core/verdict.hpp"

namespace kernelsearch {

/// Whether it is one of the trials that a budget counts. An outage does not count: nothing was tried.
[[nodiscard]] inline bool is_trial(const Evaluation& evaluation) {
  return is_trial(evaluation.verdict) && !evaluation.is_unanswered();
}

}  // namespace kernelsearch
