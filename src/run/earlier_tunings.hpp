// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>

#include "kernelsearch/optimizer/kernel_tuning.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch::detail {

/// What the inner trials of a candidate's evaluation found.
[[nodiscard]] KernelTuning tuning_of(const Candidate& candidate, const Evaluation& outcome,
                                     std::span<const StoredInnerTrial> trials);

/// Finds the tunings that were in the store when `run` began, so that a run that is continued finds the same.
/// Keys that are of no configuration of a kernel's space today are left out. The store outlives it.
[[nodiscard]] TuningLookup earlier_tunings(const RunStore& store, RunId run);

}  // namespace kernelsearch::detail
