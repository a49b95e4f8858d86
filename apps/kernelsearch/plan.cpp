// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "input.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/run/export_plan.hpp"
#include "kernelsearch/run/use_plan.hpp"
#include "sandbox_option.hpp"
#include "store_access.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct PlanCommand {
  std::string run = "latest";
  std::string store, problem, output;
  std::string plan;                ///< of check and apply
  std::vector<std::string> plans;  ///< of merge
  std::string out = ".";
  std::string device;
  std::string shape;
  double max_distance = 2.0;
  bool any = false, never_worse = false, measure = false, json = false;
  MeasurementOptions measurement = {};
};

/// A plan that must be there, unlike one that a program loads.
Plan existing_plan(const std::string& file) {
  if (!std::filesystem::exists(file))
    detail::raise<ConfigError>("no such plan", file, "write one with `kernelsearch plan export`");
  return Plan::load(file);
}

void say(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) print_clean(stderr, "{}\n", note);
}

void write(const Plan& plan, const std::string& file) {
  if (file.empty())
    print_clean("{}", plan.text());
  else
    plan.save(file);
}

int export_run(PlanCommand& command) {
  RunStore store = command.measure ? open_existing_store(command.store) : open_store_to_read(command.store);
  const RunRow row = require_run(store, command.run);
  const auto options = nlohmann::json::parse(row.info.options, nullptr, false);
  const std::string remembered = options.is_object() ? options.value("problem", "") : "";
  if (command.problem.empty() && remembered.empty())
    detail::raise<ConfigError>("the problem of this run was not read from a file", row.info.problem,
                               "name its folder with --problem");
  const Problem problem = read_any_problem(command.problem.empty() ? remembered : command.problem);
  PlanExportOptions how{.never_worse = !command.any, .max_distance = command.max_distance};
  if (options.is_object()) command.measurement.cache = options.value("cache", command.measurement.cache);
  if (command.measure) how.measure = measuring_on(command.measurement);
  const PlanExport made = export_plan(store, row.id, problem, how);
  say(made.notes);
  write(made.plan, command.output);
  return success;
}

std::string device_of(const PlanCommand& command, const Problem& problem) {
  if (!command.device.empty()) return command.device;
  return measuring_device(problem,
                          command.measurement.devices.empty() ? 0 : command.measurement.devices.front());
}

int check(const PlanCommand& command) {
  const Plan plan = existing_plan(command.plan);
  const Problem problem = read_any_problem(command.problem);
  const PlanCheck found = check_plan(plan, problem, device_of(command, problem));
  if (command.json) {
    const nlohmann::ordered_json out{{"plan", command.plan},
                                     {"matches", found.faults.empty()},
                                     {"faults", found.faults},
                                     {"notes", found.notes}};
    print_json(out);
  } else {
    for (const std::string& note : found.notes) print_clean("{}\n", note);
    for (const std::string& fault : found.faults) print_clean("fault: {}\n", fault);
    print_clean("{}\n", found.faults.empty() ? "the plan can be applied" : "the plan does not match");
  }
  return found.faults.empty() ? success : nothing_found;
}

/// `n=512,kind=odd`: numbers where they are, else text.
std::vector<NamedValue> shape_from(const std::string& text) {
  std::vector<NamedValue> shape;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t equals = part.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == part.size())
      detail::raise<ConfigError>("a shape is NAME=VALUE,...", text, "e.g. --shape n=512,m=64");
    const std::string value = part.substr(equals + 1);
    const char* const first = value.data();
    const char* const last = first + value.size();
    std::int64_t integer = 0;
    double number = 0;
    if (const auto read = std::from_chars(first, last, integer); read.ec == std::errc() && read.ptr == last)
      shape.emplace_back(part.substr(0, equals), integer);
    else if (const auto real = std::from_chars(first, last, number);
             real.ec == std::errc() && real.ptr == last)
      shape.emplace_back(part.substr(0, equals), number);
    else if (value == "true" || value == "false")
      shape.emplace_back(part.substr(0, equals), value == "true");
    else
      shape.emplace_back(part.substr(0, equals), value);
    begin = end + 1;
  }
  return shape;
}

int apply(const PlanCommand& command) {
  const Plan plan = existing_plan(command.plan);
  const Problem problem = read_any_problem(command.problem);
  std::optional<std::vector<NamedValue>> shape;
  if (!command.shape.empty()) shape = shape_from(command.shape);
  const AppliedPlan applied = apply_plan(plan, problem, device_of(command, problem), command.out, shape);
  if (command.json) {
    nlohmann::ordered_json out{{"why", applied.why}};
    for (const auto& [what, path] : applied.files) out["files"][what] = path.string();
    print_json(out);
    return success;
  }
  print_clean("{:<10} {}\n", applied.values.empty() ? "not chosen" : "chosen", applied.why);
  for (const auto& [what, path] : applied.files) print_clean("{:<10} {}\n", what, path.string());
  return success;
}

int merge(const PlanCommand& command) {
  std::vector<std::pair<std::string, Plan>> plans;
  for (const std::string& file : command.plans) plans.emplace_back(file, existing_plan(file));
  const MergedPlans merged = merge_plans(plans);
  say(merged.notes);
  write(merged.plan, command.output);
  return success;
}

void add_export_plan(CLI::App& plan, const std::shared_ptr<PlanCommand>& command, int& exit_code) {
  auto* sub = plan.add_subcommand("export", "Write what a run found as a plan");
  sub->add_option("RUN", command->run, "Number or name of the run, or latest")->capture_default_str();
  sub->add_option("-o,--output", command->output, "File to write; default stdout");
  sub->add_option("--store", command->store, "SQLite file of runs");
  sub->add_option("--problem", command->problem, "The problem's folder, where it has moved since");
  auto* any =
      sub->add_flag("--any", command->any, "Also settings that did not beat the default in pairs at 95 %");
  sub->add_flag("--never-worse", command->never_worse, "Only settings that did; the default")->excludes(any);
  sub->add_flag("--measure", command->measure,
                "Measure the pairs with the default that are missing or prove nothing, and keep them");
  sub->add_option("--max-distance", command->max_distance,
                  "Use a shape's settings for others up to this distance, in doublings; 0: for no others")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  sub->add_option("--core", command->measurement.core, "With --measure: processor core; default the last");
  sub->add_option("--devices", command->measurement.devices, "With --measure: GPU by number")
      ->capture_default_str();
  sub->add_option("--sandbox", command->measurement.sandbox, sandbox_help)
      ->capture_default_str()
      ->check(CLI::IsMember(sandbox_names()));
  sub->footer("Example: kernelsearch plan export latest --measure -o matmul_plan.json");
  sub->callback([command, &exit_code] { exit_code = export_run(*command); });
}

/// The arguments that `check` and `apply` share.
void add_target(CLI::App& sub, PlanCommand& command) {
  sub.add_option("PLAN", command.plan, "Plan file")->required();
  sub.add_option("PROBLEM", command.problem, "Problem folder or problem.json")->required();
  sub.add_option("--device", command.device,
                 "For this device instead of this machine's: its name as the plan has it");
  sub.add_option("--gpu", command.measurement.devices, "GPU of this machine by number")->expected(1);
  sub.add_flag("--json", command.json, "Print one JSON object");
}

}  // namespace

void add_plan(CLI::App& app, int& exit_code) {
  auto* plan = app.add_subcommand("plan", "Plan files: what tuning found, to be applied without searching");
  plan->require_subcommand(1);
  auto command = std::make_shared<PlanCommand>();
  add_export_plan(*plan, command, exit_code);

  auto* checks = plan->add_subcommand(
      "check", "Say whether a plan matches a problem and this device, and what it holds");
  add_target(*checks, *command);
  checks->footer("Example: kernelsearch plan check matmul_plan.json examples/host/matmul");
  checks->callback([command, &exit_code] { exit_code = check(*command); });

  auto* applies =
      plan->add_subcommand("apply", "Write source, settings header and run-time table from a plan");
  add_target(*applies, *command);
  applies->add_option("--out", command->out, "Folder for the files")->capture_default_str();
  applies->add_option("--shape", command->shape, "The shape to write source and header for: NAME=VALUE,...");
  applies->footer(
      "Example: kernelsearch plan apply matmul_plan.json examples/host/matmul --shape n=512 --out generated");
  applies->callback([command, &exit_code] { exit_code = apply(*command); });

  auto* merges =
      plan->add_subcommand("merge", "Make one plan of several; where they differ the better proven wins");
  merges->add_option("PLANS", command->plans, "Plan files")->required();
  merges->add_option("-o,--output", command->output, "File to write; default stdout");
  merges->footer("Example: kernelsearch plan merge rank*.json -o plan.json");
  merges->callback([command, &exit_code] { exit_code = merge(*command); });
}

}  // namespace kernelsearch::app
