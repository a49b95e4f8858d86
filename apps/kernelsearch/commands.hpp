// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernelsearch/process/carried_programs.hpp"

namespace CLI {
class App;
}

/// The subcommands. Each function declares its options on `app`; the callback that CLI11 runs after parsing
/// does the work and puts the exit code into `exit_code`. Results go to stdout, everything else to stderr.
namespace kernelsearch::app {

/// Documented in docs/command.md.
enum ExitCode : int {
  success = 0,
  nothing_found = 1,  ///< the run ended without a right candidate, or a check found faults
  wrong_usage = 2,    ///< options or arguments
  wrong_input = 3,    ///< a problem, a space or a store that cannot be used as it is
  no_device = 4,      ///< a device, compiler, sandbox or model that is missing or was lost
  interrupted = 130,  ///< Ctrl-C; what was measured is in the store
};

/// `behind` is what stands behind `--`.
void add_tune(CLI::App& app, int& exit_code, const std::vector<std::string>& behind);
void add_check(CLI::App& app, int& exit_code);
void add_profile(CLI::App& app, int& exit_code);
void add_prompt(CLI::App& app, int& exit_code);
void add_new(CLI::App& app, int& exit_code);
void add_best(CLI::App& app, int& exit_code);
void add_plan(CLI::App& app, int& exit_code);
void add_show(CLI::App& app, int& exit_code);
void add_runs(CLI::App& app, int& exit_code);
void add_note(CLI::App& app, int& exit_code);
void add_checkpoints(CLI::App& app, int& exit_code);
void add_memory(CLI::App& app, int& exit_code);
void add_export(CLI::App& app, int& exit_code);
void add_convert(CLI::App& app, int& exit_code, const std::vector<std::string>& behind);
void add_inspect(CLI::App& app, int& exit_code);
void add_space(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_contract(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);
void add_mcp(CLI::App& app, int& exit_code);
void add_worker(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_trial(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);

/// The helper programs that this one has inside.
[[nodiscard]] std::span<const CarriedProgram> programs_inside();

}  // namespace kernelsearch::app
