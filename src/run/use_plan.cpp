// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/use_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "changed_settings.hpp"
#include "kernelsearch/core/device_identity.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/runtime/settings_table.hpp"
#include "report/winner_text.hpp"

namespace kernelsearch {
namespace {

std::string words(const std::vector<NamedValue>& values) {
  std::string text;
  for (const auto& [name, value] : values) text += (text.empty() ? "" : " ") + name + "=" + to_string(value);
  return text;
}

std::string proof(const PlanEntry& entry) {
  return entry.over_default ? fmt::format("{} over the default, {} pairs",
                                          format_speedup(*entry.over_default), entry.over_default->pairs)
                            : "not measured in pairs";
}

/// The settings as the space has them now; raises where they are not a configuration any more.
std::vector<NamedValue> valid_values(const Space& space, const std::vector<NamedValue>& values) {
  return named_values(space, detail::changed_settings(space, space.default_config(), values));
}

void check_entries(const ProblemPlan& part, const Problem& problem, PlanCheck& check) {
  const Space& space = problem.kernel.space;
  for (const PlanEntry& entry : part.entries) {
    try {
      if (entry.values.size() != space.size())
        detail::raise<ConfigError>("settings for all tunables are needed", words(entry.values),
                                   "export the plan again");
      (void)valid_values(space, entry.values);
      check.notes.push_back(
          fmt::format("{}: {} ({})", words(entry.shape), words(entry.values), proof(entry)));
    } catch (const ConfigError& error) {
      check.faults.push_back(fmt::format("{}: {}", words(entry.shape), error.what()));
    }
  }
  for (const PlanEntry& entry : part.default_kept)
    check.notes.push_back(
        fmt::format("{}: the default stays{}", words(entry.shape),
                    entry.over_default ? " (" + words(entry.values) + " was " + proof(entry) + ")" : ""));
}

std::string comment(const ProblemPlan& part, const Problem& problem, const std::string& why,
                    const std::vector<NamedValue>& values) {
  const std::string command = detail::build_line(problem, values);
  return fmt::format(
      "// {}: settings of a kernelsearch plan, {}.\n//   device     {}\n//   built with {}\n//   kernel     "
      "{}\n",
      detail::one_line(problem.name), detail::one_line(why), detail::one_line(part.device),
      detail::one_line(command), part.kernel_digest);
}

bool same_line(const Settings& a, const Settings& b) {
  return a.problem == b.problem && same_device(a.device, b.device) && a.shape == b.shape &&
         a.values == b.values && a.seconds == b.seconds && a.speedup == b.speedup;
}

/// What the plan says of each shape as lines of a table; where the default stays, the default.
std::vector<Settings> table_lines(const ProblemPlan& part, const Problem& problem) {
  std::vector<Settings> lines;
  const auto add = [&](const PlanEntry& entry, bool kept) {
    Settings line;
    line.problem = problem.name;
    line.device = part.device;
    line.shape = entry.shape;
    line.values =
        kept ? named_values(problem.kernel.space, problem.kernel.space.default_config()) : entry.values;
    if (!kept) {
      line.seconds = entry.seconds;
      if (entry.over_default) {
        line.speedup = entry.over_default->ratio;
        line.speedup_interval = entry.over_default->interval;
      }
    }
    line.source = kept ? "plan: the default stays"
                       : "plan, trial " + std::to_string(entry.trial) + ", over the default";
    lines.push_back(std::move(line));
  };
  for (const PlanEntry& entry : part.entries) add(entry, false);
  for (const PlanEntry& entry : part.default_kept) add(entry, true);
  return lines;
}

/// The one configuration that serves all shapes of a part; nothing where there are several.
std::optional<std::vector<NamedValue>> only_values(const ProblemPlan& part, const Problem& problem) {
  const std::vector<NamedValue> at_default =
      named_values(problem.kernel.space, problem.kernel.space.default_config());
  if (part.entries.empty()) return at_default;
  const std::vector<NamedValue> first = part.entries.front().values;
  const bool all = std::all_of(part.entries.begin(), part.entries.end(),
                               [&](const PlanEntry& entry) { return entry.values == first; });
  if (!all || (!part.default_kept.empty() && first != at_default)) return std::nullopt;
  return first;
}

}  // namespace

std::string measuring_device(const Problem& problem, int gpu) {
  if (!is_gpu(problem.backend)) return processor_identity();
  const GpuStatus status = gpu_status(*gpu_backend_of(problem.backend));
  for (const GpuDevice& device : status.devices)
    if (device.ordinal == gpu) return device_identity(device.id());
  throw DeviceError(
      "kernelsearch: no GPU " + std::to_string(gpu) + ": " +
      (status.problem.empty() ? "there are " + std::to_string(status.devices.size()) : status.problem));
}

PlanCheck check_plan(const Plan& plan, const Problem& problem, const std::string& device) {
  PlanCheck check;
  const std::string digest = problem_digest(problem), kernel = kernel_digest(problem.kernel);
  bool named = false;
  std::vector<std::string> others;  // reasons why parts of this problem are for something else
  for (std::size_t p = 0; p < plan.parts().size(); ++p) {
    const ProblemPlan& part = plan.parts()[p];
    if (part.problem != problem.name) continue;
    named = true;
    if (part.problem_digest != digest)
      others.push_back(
          fmt::format("the problem has changed since: {} in the plan, {} now", part.problem_digest, digest));
    else if (part.kernel_digest != kernel)
      others.push_back(fmt::format("the kernel or its space has changed since: {} in the plan, {} now",
                                   part.kernel_digest, kernel));
    else if (!same_device(part.device, device))
      others.push_back(fmt::format("it is for another device: {} in the plan, {} here", part.device, device));
    else
      check.parts.push_back(p);
  }
  if (!named) {
    std::string names;
    for (const ProblemPlan& part : plan.parts())
      if (names.find(part.problem) == std::string::npos) names += (names.empty() ? "" : ", ") + part.problem;
    check.faults.push_back(fmt::format("the plan says nothing of the problem {}; it has {}", problem.name,
                                       names.empty() ? "none" : names));
    return check;
  }
  // Parts for other devices or versions are not a fault where there is one for this.
  std::vector<std::string>& said = check.parts.empty() ? check.faults : check.notes;
  said.insert(said.end(), others.begin(), others.end());
  for (const std::size_t p : check.parts) {
    const ProblemPlan& part = plan.parts()[p];
    check.notes.push_back(
        fmt::format("{} on {}, kernel {}{}", part.problem, part.device, part.kernel_digest,
                    part.never_worse ? "" : "; not all of it is proven against the default"));
    check_entries(part, problem, check);
  }
  return check;
}

AppliedPlan apply_plan(const Plan& plan, const Problem& problem, const std::string& device,
                       const std::filesystem::path& folder,
                       const std::optional<std::vector<NamedValue>>& shape) {
  const PlanCheck check = check_plan(plan, problem, device);
  if (!check.faults.empty())
    detail::raise<ConfigError>("the plan does not match", check.faults.front(),
                               "tune this problem on this device, or apply the plan where it belongs");
  // Parts differ in how caches began; the plan's own rules choose among them, as at run time.
  std::vector<ProblemPlan> parts;
  for (const std::size_t p : check.parts) parts.push_back(plan.parts()[p]);
  const ProblemPlan& part = parts.front();
  const std::string kernel = part.kernel_digest;
  const std::vector<NamedValue> at_default =
      named_values(problem.kernel.space, problem.kernel.space.default_config());
  AppliedPlan applied;
  if (shape) {
    const auto best = Plan(parts).best_for(problem.name, device, *shape, kernel);
    applied.values = best ? best->values : at_default;
    applied.why = best ? fmt::format("for {}, measured for {}", words(*shape), words(best->shape))
                       : fmt::format("the default, since it has nothing better near {}", words(*shape));
  } else if (const auto values = parts.size() == 1 ? only_values(part, problem) : std::nullopt) {
    applied.values = *values;
    applied.why =
        *values == at_default ? "the default, since nothing was proven faster" : "for all its shapes";
  } else {
    applied.why =
        "several configurations, each for other shapes: name one with --shape, or use the table at run time";
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);  // a failure shows when the first file is written
  const std::string name = detail::identifier(problem.name);
  if (!applied.values.empty()) {
    const std::string head = comment(part, problem, applied.why, applied.values);
    auto source = folder / (name + "_best" + detail::kernel_extension(problem));
    const auto settings = folder / (name + "_settings.hpp");
    std::filesystem::path script;
    if (problem.build.command.empty()) {
      detail::write_file(source,
                         detail::source_text(head, problem.kernel.regions, applied.values, problem.backend));
    } else {
      const detail::CommandFiles made =
          detail::write_command_files(problem, problem.kernel.regions, applied.values, head, folder);
      source = made.source;
      script = made.script;
    }
    detail::write_file(settings, detail::settings_text(head, problem.name, applied.values));
    applied.files = {{"source", source}, {"settings", settings}};
    if (!script.empty()) applied.files.emplace_back("script", script);
  }
  const auto table = folder / (name + "_table.jsonl");
  const SettingsTable known = SettingsTable::load(table);
  std::vector<Settings> lines;
  for (const ProblemPlan& one : parts)
    for (Settings& line : table_lines(one, problem))
      if (std::none_of(known.entries().begin(), known.entries().end(),
                       [&](const Settings& old) { return same_line(old, line); }))
        lines.push_back(std::move(line));
  SettingsTable::append(table, lines);
  applied.files.emplace_back("table", table);
  return applied;
}

}  // namespace kernelsearch
