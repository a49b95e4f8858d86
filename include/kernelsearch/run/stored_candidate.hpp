// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/store/kernel_codec.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// Makes the kernels that were handed in to a run of this problem: the problem's space with the tunables that
/// the text declares.
[[nodiscard]] KernelMaker submitted_kernels(const Problem& problem);

/// The candidate of a stored trial of a policy over tunables or of kernels that were handed in, at the
/// configuration that it was measured with. ConfigError for a trial without code, and where the problem's
/// tunables have changed since.
[[nodiscard]] Candidate stored_candidate(const RunStore& store, const Problem& problem,
                                         const StoredTrial& trial);

/// The first other trial of the run with the same kernel, up to comments and constraints that change nothing,
/// at the same settings.
[[nodiscard]] std::optional<TrialId> stored_twin(const RunStore& store, const Problem& problem, RunId run,
                                                 const StoredTrial& trial);

}  // namespace kernelsearch
