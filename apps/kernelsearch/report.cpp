// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"
#include "input.hpp"
#include "kernelsearch/agents/method_registry.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/run/measurement.hpp"
#include "kernelsearch/systems/cuda_skill_v2/skill_report.hpp"
#include "kernelsearch/systems/cuda_skill_v2/skill_settings.hpp"
#include "store_access.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct ReportCommand {
  std::string run = "latest";
  std::string store, out;
};

int report(const ReportCommand& command) {
  const RunStore store = open_store_to_read(command.store);
  const RunRow row = require_run(store, command.run);
  const auto options = nlohmann::json::parse(row.info.options, nullptr, false);
  if (!options.is_object() || !options.contains("skill"))
    detail::raise<ConfigError>("only runs of cuda_skill_v2 have such a report",
                               fmt::format("run {} of {}", number(row.id), row.info.policy),
                               "see `kernelsearch show` and `kernelsearch export` for other runs");
  const RooflineBudgetOptions search = read_skill_settings(
      options["skill"].dump(), read_methods(row.info.evaluator, options.value("methods", std::string())));
  const RooflineBudget replayed = replayed_skill(store, row.id, search);
  if (command.out.empty()) {
    print_clean("{}", skill_summary(store, row.id, replayed));
    return success;
  }
  const Problem problem = read_any_problem(options.value("problem", std::string()));
  write_skill_report(store, row.id, problem, replayed, command.out, device_peaks(problem));
  print_clean("{}\n", (std::filesystem::path(command.out) / "summary.md").string());
  return success;
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("report", "What a run of cuda_skill_v2 found out: methods, axes, evidence");
  auto command = std::make_shared<ReportCommand>();
  sub->add_option("RUN", command->run, "Number or name of a run, or `latest`")->capture_default_str();
  sub->add_option("--out", command->out,
                  "Write the run's whole folder here instead of the summary to stdout");
  sub->add_option("--store", command->store, "SQLite file of runs");
  sub->footer("Example: kernelsearch report latest --out matmul_report");
  sub->callback([command, &exit_code] { exit_code = report(*command); });
}

}  // namespace kernelsearch::app
