// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/run/finalists.hpp"
#include "kernelsearch/run/run_observer.hpp"
#include "kernelsearch/run/run_options.hpp"

namespace kernelsearch::detail {

/// What finalists must pass; `validate` is empty where nothing is asked.
struct Validation {
  FinalistValidator validate;
  std::string feature;  ///< 1 of finalists that passed
  /// The same, given up when a stop is asked for: no objection then says nothing.
  std::function<std::optional<Evaluation>(const Candidate&, const std::stop_token&)> until = nullptr;
};

/// What RunOptions::validate and RunOptions::bounds ask. A ConfigError or DeviceError where it cannot be
/// done, found out on the problem's default before anything is searched. Kernels that an evaluator of the
/// caller's own judges (`foreign`) may not be what the problem's compiler would make of them: their bounds
/// are not looked at.
[[nodiscard]] Validation make_validator(const RunOptions& options, const Problem& problem, bool foreign,
                                        RunObserver& observer);

}  // namespace kernelsearch::detail
