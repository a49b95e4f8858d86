// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/run/finalists.hpp"
#include "kernelsearch/run/run_observer.hpp"
#include "kernelsearch/run/run_options.hpp"

namespace kernelsearch::detail {

/// What RunOptions::validate asks finalists to pass, empty without it. A ConfigError or DeviceError where it
/// cannot be done, found out on the problem's default before anything is searched.
[[nodiscard]] FinalistValidator make_validator(const RunOptions& options, const Problem& problem,
                                               RunObserver& observer);

}  // namespace kernelsearch::detail
