// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/store/run_info.hpp"

namespace kernelsearch {

/// What results are kept under: the problem, and the cache mode that it is measured with.
[[nodiscard]] std::string measurement_digest(const Problem& problem, const std::string& cache);

/// A ConfigError that says what has changed since the run began: problem, device (by its identity, and a
/// GPU's driver) or toolchain. Times of before and after could not be compared.
void check_same_context(const RunRow& run, const RunInfo& now);

}  // namespace kernelsearch
