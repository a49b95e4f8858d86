// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "kernelsearch/run/run_options.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch::detail {

/// What a run is stored to have been begun with: its options, and where its problem comes from.
struct StoredOptions {
  RunOptions options;
  std::string problem = {};          ///< path; empty: the problem was not read from a file
  std::string problem_text = {};     ///< or its JSON
  std::string baseline = {};         ///< path of what answers are compared with besides the reference
  std::string root = {};             ///< values of the configuration that a system began at, as JSON
  std::string machine = {};          ///< `machine_text` when the run began: its questions keep their bytes
  std::string peaks = {};            ///< and the peaks that shapes were bounded by, as `peaks_text`
  std::int64_t memory = 0;           ///< the last change that its prompts may show; 0: they show none
  std::string system_settings = {};  ///< what repeats the system's search, as JSON; see SystemEntry::settings
};

/// The JSON object of RunInfo::options (docs/formats/store.md#options). Paths become absolute.
[[nodiscard]] std::string encode_options(const StoredOptions& stored);

/// The same back. What a store of an earlier version does not say has its standard value.
[[nodiscard]] StoredOptions decode_options(const RunRow& row);

/// What a resumed run goes on with: what is stored, except for what `given` says anew (budget, limits,
/// what is measured with) and for what is not stored. A store may come from others: what it names to run, to
/// connect by, to record in or to show to kernels is taken from `given` alone.
[[nodiscard]] StoredOptions resumed_options(const RunRow& row, RunOptions given);

/// ConfigError where the run was begun with such an option and `given` lacks it, or with a folder to write to
/// that is not next to the file of the store.
void check_given_again(const RunRow& row, const RunOptions& given, const std::filesystem::path& store);

/// The files besides its store that a resumed run reads because its store names them, for people; empty:
/// none.
[[nodiscard]] std::string stored_sources(const StoredOptions& resumed);

}  // namespace kernelsearch::detail
