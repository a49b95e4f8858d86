// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/store/run_notes.hpp"
#include "kernelsearch/store/run_store.hpp"

/// How the commands that only look find the store and a run in it.
namespace kernelsearch::app {

/// What `--store` said, or the default place. ConfigError, naming it, when there is no such file.
[[nodiscard]] RunStore open_existing_store(const std::string& option);

/// The same for a command that changes nothing in it: the file may be one that can only be read.
[[nodiscard]] RunStore open_store_to_read(const std::string& option);

/// The run of that number or name, `latest` for the newest. ConfigError with what to do when there is none.
[[nodiscard]] RunRow require_run(const RunStore& store, const std::string& number_or_name);

/// The problem of a run, read where the run remembers that it was, or from `named`. The code of its trials
/// comes from the store.
[[nodiscard]] Problem problem_of_run(const RunRow& run, const std::string& named);

/// A time as reports write it, to three digits; `-` for what was never measured.
[[nodiscard]] std::string seconds_text(double seconds);

/// The tags of a run, separated by commas.
[[nodiscard]] std::string joined_tags(const RunNote& note);

}  // namespace kernelsearch::app
