// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/run/run_observer.hpp"
#include "kernelsearch/space/space.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch::detail {

/// The runs of `store` that a search of `problem` can learn from, newest first, as sources for
/// earlier_runs(): those that ended and have trials enough.
[[nodiscard]] std::vector<std::string> runs_of(const RunStore& store, const std::string& problem);

/// What the sources say of `space`: recordings, `STORE:RUN`, or stores, which stand for all of their runs.
/// Sources of other spaces are left out, and the observer is told. ConfigError for a source that cannot be
/// read.
[[nodiscard]] std::vector<EarlierRun> earlier_runs(const std::vector<std::string>& sources,
                                                   const Space& space, RunObserver& observer);

}  // namespace kernelsearch::detail
