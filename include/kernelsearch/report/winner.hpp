// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/runtime/settings.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// Where `write_winner` wrote.
struct WinnerFiles {
  /// <problem>_best.cpp: the kernel with its tunables defined, ready to build. For a ready module of SPIR-V
  /// <problem>_best.spv, with their values as its specialisation constants' own.
  std::filesystem::path source;
  std::filesystem::path settings;  ///< <problem>_settings.hpp: the tunables as constants
  std::filesystem::path record;    ///< <problem>_best.json: how it was measured
  /// For a kernel that the problem's command builds: <problem>_best.sh, which makes its object file of the
  /// source, the kernel as the command gets it, and of the files in <problem>_build. Else empty.
  std::filesystem::path script;
};

/// Writes the best trial of a run to `folder`, which is made if need be; existing files are replaced. The
/// problem names the entry point and how it was built; the code is the trial's own, from the store.
/// ConfigError when the run has no right candidate or the trial is not a kernel. `trial`: another one than
/// the winner, e.g. of the Pareto front.
WinnerFiles write_winner(const RunStore& store, RunId run, const Problem& problem,
                         const std::filesystem::path& folder, std::optional<TrialId> trial = {});

/// The texts of those files.
[[nodiscard]] std::string winner_source(const RunStore& store, RunId run, const Problem& problem,
                                        std::optional<TrialId> trial = {});
[[nodiscard]] std::string winner_settings(const RunStore& store, RunId run, const Problem& problem,
                                          std::optional<TrialId> trial = {});
[[nodiscard]] std::string winner_record(const RunStore& store, RunId run, const Problem& problem,
                                        std::optional<TrialId> trial = {});

/// For each timed shape of the problem the settings of the trial that was fastest on it, for
/// `SettingsTable::append`; where there is one such shape, those of the winner.
[[nodiscard]] std::vector<Settings> best_settings(const RunStore& store, RunId run, const Problem& problem);

}  // namespace kernelsearch
