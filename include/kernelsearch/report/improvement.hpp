// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// Why the run's winner is not an improvement, in words: it is the default configuration, or its interval of
/// pairs against that or against the reference is not above 1. Empty where it is one as far as it was
/// compared, and for a run without a right candidate.
[[nodiscard]] std::string no_improvement(const RunStore& store, RunId run);

}  // namespace kernelsearch
