// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/policy/roofline_budget.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// The policy of a stored run, told again all that the run was told. ConfigError where it does not repeat the
/// recorded proposals: the options or the registry are others.
[[nodiscard]] RooflineBudget replayed_skill(const RunStore& store, RunId run, RooflineBudgetOptions options);

/// A run of CUDA optimisation skill V2 as the page that its authors end with (Markdown): header, environment,
/// headline speedup with its interval, roofline history, timeline, effective, ineffective, failed and all
/// tried methods, interactions, and the first ten kernels of the frontier. Every figure is from the store.
[[nodiscard]] std::string skill_summary(const RunStore& store, RunId run, const RooflineBudget& search);

/// Writes env.json and state.json alone, as after each step: where the run is, for those who watch its folder
/// or finds it after a kill. Each file is replaced whole.
void write_skill_state(const RunStore& store, RunId run, const Problem& problem, const RooflineBudget& search,
                       const std::filesystem::path& folder, const DevicePeaks& peaks = {});

/// Writes the run's folder: env.json (with `peaks`), state.json, summary.md, roofline.svg, roofline.json
/// (where the best kernel stands), baseline/ and for
/// each iteration iterv<i>/ with kernel, analysis.md, methods.json, roofline.json, ncu_top.json (the five
/// quantities that say most of each axis), branch_results.json, attribution.json,
/// sass_check.json (the machine-code evidence), bench.json, branches/ and ablations/. Results are replaced;
/// kernels and analyses that are there stay, because a person may have written them. `peaks` are the
/// picture's roofs; without a candidate whose place is known there is no picture.
void write_skill_report(const RunStore& store, RunId run, const Problem& problem,
                        const RooflineBudget& search, const std::filesystem::path& folder,
                        const DevicePeaks& peaks = {});

}  // namespace kernelsearch
