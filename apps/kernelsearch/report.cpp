// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "input.hpp"
#include "kernelsearch/agents/method_registry.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/recorded/stored_run.hpp"
#include "kernelsearch/report/render_report.hpp"
#include "kernelsearch/run/measurement.hpp"
#include "kernelsearch/run/report_extras.hpp"
#include "kernelsearch/systems/cuda_skill_v2/skill_report.hpp"
#include "kernelsearch/systems/cuda_skill_v2/skill_settings.hpp"
#include "store_access.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

namespace fs = std::filesystem;

struct ReportCommand {
  std::vector<std::string> runs{"latest"};
  std::string store, out, format, exchanges;
};

/// By --format, else by the name of --out; empty where neither says.
std::string format_of(const ReportCommand& command) {
  if (!command.format.empty()) return command.format;
  const std::string extension = fs::path(command.out).extension().string();
  for (const char* format : {"html", "svg", "md"})
    if (extension == std::string(".") + format) return format;
  return {};
}

/// The skill's settings of a run of cuda_skill_v2; nothing for other runs.
std::optional<nlohmann::json> skill_options(const RunRow& row) {
  auto options = nlohmann::json::parse(row.info.options, nullptr, false);
  if (!options.is_object() || !options.contains("skill") || row.info.policy != "cuda_skill_v2")
    return std::nullopt;
  return options;
}

int report_skill(const RunStore& store, const RunRow& row, const nlohmann::json& options,
                 const std::string& out) {
  const RooflineBudgetOptions search = read_skill_settings(
      options["skill"].dump(), read_methods(row.info.evaluator, options.value("methods", std::string())));
  const RooflineBudget replayed = replayed_skill(store, row.id, search);
  if (out.empty()) {
    print_clean("{}", skill_summary(store, row.id, replayed));
    return success;
  }
  const Problem problem = read_any_problem(options.value("problem", std::string()));
  write_skill_report(store, row.id, problem, replayed, out, device_peaks(problem));
  print_clean("{}\n", (fs::path(out) / "summary.md").string());
  return success;
}

std::string rendered(const std::vector<ReportModel>& reports, const std::string& format) {
  if (format == "md") return report_markdown(reports);
  if (format == "svg") return report_svg(reports);
  return report_html(reports);
}

/// A run of the store; a recording where there is a file of that name.
ReportModel report_named(const ReportCommand& command, const std::string& name,
                         std::optional<RunStore>& store) {
  std::error_code error;
  if (fs::is_regular_file(name, error)) {
    const auto [run, trials] = stored_run_of(read_recording(name));
    return report_of(run, trials);
  }
  if (!store) store.emplace(open_store_to_read(command.store));
  const RunRow row = require_run(*store, name);
  return report_of(*store, row.id, report_extras(*store, row.id, command.exchanges));
}

int report(const ReportCommand& command) {
  const std::string format = format_of(command);
  std::optional<RunStore> store;
  std::error_code error;
  if (format.empty() && command.runs.size() == 1 && !fs::is_regular_file(command.runs.front(), error)) {
    store.emplace(open_store_to_read(command.store));
    const RunRow row = require_run(*store, command.runs.front());
    if (const auto options = skill_options(row)) return report_skill(*store, row, *options, command.out);
  }
  std::vector<ReportModel> reports;
  for (const std::string& name : command.runs) reports.push_back(report_named(command, name, store));
  const std::string text = rendered(reports, format);
  if (command.out.empty() && (format == "md" || format == "svg")) {
    print_clean("{}", text);
    return success;
  }
  fs::path out = command.out;
  if (out.empty())
    out = own_place(number(reports.front().run.id) == 0
                        ? "report.html"
                        : fmt::format("run_{}.html", number(reports.front().run.id)),
                    "remove it, or name the file yourself with --out");
  write_report(out, text);
  print_clean("{}\n", out.string());
  return success;
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand(
      "report", "A page of runs or recordings: times, tunables, kernels, failures; as HTML, SVG or Markdown");
  auto command = std::make_shared<ReportCommand>();
  sub->add_option("RUN", command->runs,
                  "Numbers or names of runs, `latest`, or files of recordings; several are compared")
      ->capture_default_str();
  sub->add_option("--format", command->format,
                  "html, svg or md; default by the name of --out, else html. For one run of cuda_skill_v2 "
                  "without a format: what it found out, its whole folder with --out")
      ->check(CLI::IsMember({"html", "svg", "md"}));
  sub->add_option("--out", command->out, "File to write; default run_N.html, and stdout for svg and md");
  sub->add_option("--store", command->store, "SQLite file of runs");
  sub->add_option("--exchanges", command->exchanges,
                  "Folder of questions and replies; default the run's own next to the store");
  sub->footer(
      "Examples:\n"
      "  kernelsearch report                         run_N.html of the newest run\n"
      "  kernelsearch report 3 5 --out compared.html\n"
      "  kernelsearch report latest --format md");
  sub->callback([command, &exit_code] { exit_code = report(*command); });
}

}  // namespace kernelsearch::app
