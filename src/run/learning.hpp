// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/policy/hierarchical_ucb_options.hpp"
#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/run/run_observer.hpp"
#include "kernelsearch/space/space.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch::detail {

/// The runs of `store` that a search of `problem` can learn from, newest first, as sources for
/// earlier_runs(): those that ended and have trials enough.
[[nodiscard]] std::vector<std::string> runs_of(const RunStore& store, const std::string& problem);

/// Recordings and `STORE:RUN` as they are, and for each store the runs that it has now: a run that is resumed
/// learns from those that it began with.
[[nodiscard]] std::vector<std::string> each_source(const std::vector<std::string>& sources);

/// What the sources say of `space`, each one of each_source(). Sources of other spaces are left out, and the
/// observer is told. ConfigError for a source that cannot be read.
[[nodiscard]] std::vector<EarlierRun> earlier_runs(const std::vector<std::string>& sources,
                                                   const Space& space, RunObserver& observer);

/// The runs of `store` over moves on this backend, newest first, as sources for earlier_moves(): those of the
/// problem, or with an empty name of any.
[[nodiscard]] std::vector<std::string> move_runs_of(const RunStore& store, const std::string& problem,
                                                    const std::string& backend);

/// `STORE:RUN` as it is, and for each store the runs over moves that it has now. ConfigError for a source
/// that is neither.
[[nodiscard]] std::vector<std::string> each_move_source(const std::vector<std::string>& sources,
                                                        const std::string& backend);

/// Pairs of a strategy and a kernel that the heads of KernelBand are warmed up with (arXiv 2511.18868,
/// section 4.2), as the paper has them 1000, from the newest runs first: each rewrite of a right kernel by
/// one named strategy, with the kernel's features and what the rewrite was worth. The observer is told how
/// many.
[[nodiscard]] std::vector<MoveExample> earlier_moves(const std::vector<std::string>& sources,
                                                     RunObserver& observer);

}  // namespace kernelsearch::detail
