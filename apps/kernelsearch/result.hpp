// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch::app {

/// What is to be said of a published system's run besides: of its language models, in words or as a JSON
/// object; empty: nothing.
struct SystemReport {
  bool rewrites = false;  ///< its candidates are several kernels, for which no table of settings can stand
  std::string text = {}, json = {};
};

/// Prints what a run came to on stdout, as text or as one JSON object, and writes the winner's files and the
/// table of settings for run time into `folder` where one is given; and what the search
/// learned from earlier runs.
void report_result(const RunStore& store, RunId run, const Problem& problem,
                   const std::optional<std::filesystem::path>& folder, bool json,
                   const std::vector<LearnedFrom>& learned, const SystemReport& system = {});

}  // namespace kernelsearch::app
