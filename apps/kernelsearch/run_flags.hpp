// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "kernelsearch/run/run_options.hpp"

namespace kernelsearch::app {

/// Adds the flags of all options of a run but `--devices`, in groups, as their rows describe them
/// (kernelsearch/run/run_option.hpp). What is given is written to `into`, which must outlive the parsing.
void add_run_flags(CLI::App& sub, RunOptions& into);

/// Flags that `tune` had before a system's options were written with its name. They still work, are not in
/// the help, and each one that is used says how it is written now.
class FormerFlags {
 public:
  explicit FormerFlags(CLI::App& sub);
  /// What was given, as the system's JSON object; CLI::ValidationError where no system can take it.
  [[nodiscard]] std::string options(const RunOptions& run, bool resumes) const;
  /// How what was given is written now, a line for each; empty where nothing was.
  [[nodiscard]] std::string notices(const RunOptions& run) const;

 private:
  struct Given;
  std::shared_ptr<Given> given_;
};

}  // namespace kernelsearch::app
