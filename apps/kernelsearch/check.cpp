// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "devices_option.hpp"
#include "input.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/problem/command_task.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/shell_word.hpp"
#include "kernelsearch/problem/t1_problem.hpp"
#include "kernelsearch/run/check_problem.hpp"
#include "kernelsearch/run/made_problem.hpp"
#include "kernelsearch/run/measurement.hpp"
#include "sandbox_option.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct CheckCommand {
  std::string problem;
  std::string sandbox = "auto";
  std::vector<std::string> readable;
  std::string architecture;
  std::string device = "0";
  bool static_only = false;
  bool quick = false;
  bool all = false;
  bool json = false;
};

/// What was read: always a space, mostly a problem.
struct Subject {
  std::string kind;  ///< problem or T1 file
  Space space;
  std::optional<Problem> problem;
  std::string name;
  std::vector<std::string> missing;  ///< what a T1 file lacks to be a problem
  std::vector<std::string> notes;    ///< what was put right in it
};

Subject read_subject(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path))
    detail::raise<ConfigError>("no such file or folder", path.string(),
                               "give a problem folder, a problem.json or a T1 file");
  if (is_t1_file(path)) {
    const T1File file = read_t1(path);
    Subject subject{"T1 file", file.space, std::nullopt, file.name, {}, file.notes};
    if (auto problem = try_t1_problem(file, path.parent_path()))
      subject.problem = *std::move(problem);
    else
      subject.missing = std::move(problem).error();
    return subject;
  }
  Problem problem = read_problem(path);
  Subject subject{"problem", problem.kernel.space, std::nullopt, problem.name, {}, {}};
  subject.problem = std::move(problem);
  return subject;
}

std::string role_name(const Argument& argument) {
  if (argument.tensor_map) return "tensor map";
  if (!argument.is_array) return "scalar";
  return argument.symbol.empty() ? std::string(to_string(argument.role)) : "constant";
}

std::string size_text(const Argument& argument) {
  if (argument.tensor_map) return "of " + argument.tensor_map->array;
  if (!argument.is_array) return argument.value ? "= " + argument.value->text() : "";
  return argument.size ? "[" + argument.size->text() + "]" : "";
}

/// Whether sizes are missing that only the problem's generator knows.
bool waits_for_sizes(const Problem& problem, const Shape& shape) {
  return problem.generator && !problem.generator->sizes.empty() && shape.generated.empty();
}

double bytes_of(const Problem& problem, const Shape& shape) {
  return bytes_of_arrays(problem.arguments, shape,
                         named_values(problem.kernel.space, problem.kernel.space.default_config()));
}

std::string bytes_text(double bytes) {
  if (bytes >= 1 << 20) return fmt::format("{:.1f} MiB", bytes / (1 << 20));
  if (bytes >= 1 << 10) return fmt::format("{:.1f} KiB", bytes / (1 << 10));
  return fmt::format("{:.0f} B", bytes);
}

std::string variables_text(const Shape& shape) {
  std::string text;
  for (const auto& [name, value] : shape.variables)
    text += (text.empty() ? "" : ", ") + name + " = " + to_string(value);
  for (const auto& [name, value] : shape.generated)
    text += (text.empty() ? "" : ", ") + name + " = " + to_string(value);
  return text;
}

/// The elements of a tensor map are its array's.
std::string type_text(const Argument& argument) {
  return argument.tensor_map ? "" : argument.type_text();
}

std::string step_text(const LaunchStep& step) {
  std::string text = step.function.empty() ? "zero " + step.zero : step.function;
  if (step.condition) text += " if " + step.condition->text();
  return text;
}

std::string reference_text(const Problem& problem) {
  if (has_command_reference(problem)) return "what the task's commands say";
  return problem.reference.source.empty() ? "the kernel at its default" : problem.reference.function;
}

/// What the problem has us run besides compilers, and what that may read: in the sandbox, once it is built.
std::vector<std::pair<std::string, std::string>> asked_of_us(const Problem& problem) {
  std::vector<std::pair<std::string, std::string>> asked;
  const auto commands = [&asked](const char* what, const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
    if (!line.empty()) asked.emplace_back(what, line);
  };
  const auto folders = [&asked](const std::vector<std::string>& readable) {
    for (const std::string& folder : readable) asked.emplace_back("reads", folder);
  };
  commands("builds by", problem.build.command);
  for (const auto& words : problem.build.identity) commands("asks", words);
  folders(problem.build.readable);
  if (!problem.external) return asked;
  commands("runs", problem.external->command);
  if (has_command_reference(problem)) {
    const CommandTask task = command_task_of(problem);
    for (const auto* list : {&task.build, &task.check, &task.time})
      for (const std::string& command : *list) asked.emplace_back("runs", command);
  }
  for (const auto& words : problem.external->identity) commands("asks", words);
  folders(problem.external->readable);
  if (problem.external->devices) asked.emplace_back("sees", "the machine's devices");
  return asked;
}

using Severity = LintFinding::Severity;

std::size_t count_of(Severity severity, const std::vector<LintFinding>& findings) {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [severity](const LintFinding& finding) { return finding.severity == severity; }));
}

void print_hidden_shapes(const HiddenShapes& hidden) {
  print_clean("hidden     {} of each evaluation, checked only\n", hidden.count);
  for (const SizeRange& range : hidden.ranges)
    print_clean("  {:<12} {} to {}{}\n", range.name, range.low, range.high,
                range.multiple_of == 1 ? "" : fmt::format(", multiples of {}", range.multiple_of));
  for (const Expression& condition : hidden.where) print_clean("  {:<12} {}\n", "where", condition.text());
}

nlohmann::ordered_json hidden_shapes_json(const HiddenShapes& hidden) {
  nlohmann::ordered_json out{{"count", hidden.count}};
  for (const SizeRange& range : hidden.ranges)
    out["ranges"][range.name] = {
        {"low", range.low}, {"high", range.high}, {"multiple_of", range.multiple_of}};
  out["where"] = nlohmann::ordered_json::array();
  for (const Expression& condition : hidden.where) out["where"].push_back(condition.text());
  return out;
}

void print_description(const Subject& subject) {
  if (subject.problem) {
    const Problem& problem = *subject.problem;
    print_clean("{} {}{}{}\n", subject.kind, problem.name, problem.description.empty() ? "" : ": ",
                problem.description);
    print_clean("function   {} ({})\n", problem.function, to_string(problem.backend));
    print_clean("reference  {}\n", reference_text(problem));
    for (const auto& [what, text] : asked_of_us(problem)) print_clean("{:<10} {}\n", what, text);
    print_clean("arguments\n");
    const int width = problem.backend == Backend::host ? 7 : 10;
    for (const Argument& argument : problem.arguments) {
      const std::string line = fmt::format("  {:<12} {:<5} {:<{}} {}", argument.name, type_text(argument),
                                           role_name(argument), width, size_text(argument));
      print_clean("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
    }
    if (!problem.launch.empty()) print_clean("steps\n");
    for (const LaunchStep& step : problem.launch) print_clean("  {}\n", step_text(step));
    print_clean("shapes\n");
    for (const Shape& shape : problem.shapes)
      print_clean(
          "  {:<12} {}: {}, {}\n", shape.name, variables_text(shape),
          waits_for_sizes(problem, shape) ? "sizes from its generator" : bytes_text(bytes_of(problem, shape)),
          shape.weight > 0 ? fmt::format("weight {:g}", shape.weight) : "checked only");
    if (problem.hidden_shapes) print_hidden_shapes(*problem.hidden_shapes);
    if (problem.libraries)
      print_clean("libraries  {}\n", problem.libraries->empty()
                                         ? "none"
                                         : fmt::format("{}", fmt::join(*problem.libraries, ", ")));
  } else {
    print_clean("{} {}: a space without a kernel that could be run\n", subject.kind, subject.name);
  }
  print_clean("space      {} tunables, {} combinations, {} valid\n", subject.space.size(),
              subject.space.raw_count().to_string(), subject.space.count().to_string());
  for (const std::string& missing : subject.missing) print_clean("lacks      {}\n", missing);
  for (const std::string& note : subject.notes) print_clean("note       {}\n", note);
}

void print_findings(const ProblemCheck& check, const std::string& depth) {
  constexpr const char* labels[] = {"note", "warning", "ERROR"};
  for (const LintFinding& finding : check.findings)
    print_clean("{:<10} {}\n           -> {}\n", labels[static_cast<int>(finding.severity)], finding.what,
                finding.todo);
  for (const std::string& why : check.left_out) print_clean("left out   {}\n", why);
  const std::size_t errors = count_of(Severity::error, check.findings);
  const std::size_t warnings = count_of(Severity::warning, check.findings);
  if (errors + warnings == 0)
    print_clean("clean: no findings ({})\n", depth);
  else
    print_clean("{} errors, {} warnings ({})\n", errors, warnings, depth);
}

/// A count as a JSON number where it is exact there, else as its digits.
nlohmann::ordered_json count_as_json(const BigCount& count) {
  if (count.fits_u64()) return count.low();
  return count.to_string();
}

std::string depth_text(const GpuCheck& gpu) {
  switch (gpu.depth) {
    case GpuCheck::Depth::judged:
      return "the default was judged on every shape on " + gpu.on;
    case GpuCheck::Depth::compiled:
      return fmt::format("only compiled, by {}, and never run: {}", gpu.on, gpu.missing);
    case GpuCheck::Depth::nothing:
      break;
  }
  return "nothing was compiled or run: " + gpu.missing;
}

void print_check_json(const Subject& subject, const ProblemCheck& check) {
  nlohmann::ordered_json out{
      {"kind", subject.kind}, {"name", subject.name}, {"runnable", subject.problem.has_value()}};
  if (subject.problem) {
    const Problem& problem = *subject.problem;
    out["description"] = problem.description;
    out["backend"] = to_string(problem.backend);
    out["function"] = problem.function;
    out["reference"] = reference_text(problem);
    out["asks"] = nlohmann::ordered_json::array();
    for (const auto& [what, text] : asked_of_us(problem))
      out["asks"].push_back({{"what", what}, {"text", text}});
    auto& arguments = out["arguments"] = nlohmann::ordered_json::array();
    for (const Argument& argument : problem.arguments) {
      nlohmann::ordered_json one{{"name", argument.name}};
      if (argument.tensor_map)
        one["array"] = argument.tensor_map->array;
      else
        one["type"] = argument.type_text();
      one["role"] = role_name(argument);
      if (argument.size) one["size"] = argument.size->text();
      if (argument.value) one["value"] = argument.value->text();
      arguments.push_back(std::move(one));
    }
    auto& steps = out["steps"] = nlohmann::ordered_json::array();
    for (const LaunchStep& step : problem.launch) steps.push_back(step_text(step));
    auto& shapes = out["shapes"] = nlohmann::ordered_json::array();
    for (const Shape& shape : problem.shapes) {
      nlohmann::ordered_json one{{"name", shape.name}, {"weight", shape.weight}};
      if (!waits_for_sizes(problem, shape)) one["bytes"] = bytes_of(problem, shape);
      for (const auto& [name, value] : shape.variables) one["variables"][name] = to_string(value);
      shapes.push_back(std::move(one));
    }
    if (problem.hidden_shapes) out["hidden_shapes"] = hidden_shapes_json(*problem.hidden_shapes);
    if (problem.libraries) out["libraries"] = *problem.libraries;
  }
  out["space"] = {{"tunables", subject.space.size()},
                  {"raw", count_as_json(subject.space.raw_count())},
                  {"valid", count_as_json(subject.space.count())}};
  out["missing"] = subject.missing;
  out["notes"] = subject.notes;
  out["ran"] = !check.shapes.empty() || (check.gpu && check.gpu->depth == GpuCheck::Depth::judged);
  if (check.gpu) {
    constexpr const char* depths[] = {"nothing", "compiled", "judged"};
    out["depth"] = depths[static_cast<int>(check.gpu->depth)];
    out["on"] = check.gpu->on;
    out["unavailable"] = check.gpu->missing;
  }
  out["errors"] = count_of(Severity::error, check.findings);
  constexpr const char* severities[] = {"note", "warning", "error"};
  auto& list = out["findings"] = nlohmann::ordered_json::array();
  for (const LintFinding& finding : check.findings)
    list.push_back({{"severity", severities[static_cast<int>(finding.severity)]},
                    {"what", finding.what},
                    {"todo", finding.todo}});
  out["left_out"] = check.left_out;
  print_json(out);
}

ProblemCheckOptions options_of(const CheckCommand& command, const Problem& problem) {
  ProblemCheckOptions options;
  options.run = !command.static_only;
  options.quick = command.quick;
  if (command.all) options.lint.max_shapes = problem.shapes.size();
  if (!command.static_only) options.host.sandbox = resolved(sandbox_from(command.sandbox));
  options.gpu.sandbox = options.host.sandbox;
  options.host.readable = readable_folders(command.readable);
  options.gpu.readable = options.host.readable;
  options.gpu.devices = ordinals_of("--device", {command.device}, problem);
  options.gpu.architecture = command.architecture;
  return options;
}

std::string depth_text(const ProblemCheck& check, const Subject& subject, bool run) {
  if (check.gpu) return depth_text(*check.gpu);
  if (!check.shapes.empty()) {
    const std::size_t all = subject.problem->shapes.size();
    std::string text =
        fmt::format("reference and default were run on {} of {} shapes", check.shapes.size(), all);
    if (check.shapes.size() == all) return text;
    for (std::size_t i = 0; i < check.shapes.size(); ++i)
      text += (i == 0 ? ", the smallest: " : ", ") + check.shapes[i];
    return text + "; `--all` runs all";
  }
  if (run && subject.problem && subject.problem->external)
    return "nothing was run: `tune` judges what an external program runs";
  if (run && subject.problem)
    return fmt::format("nothing was run: no evaluator for {}", to_string(subject.problem->backend));
  return "nothing was run";
}

/// A folder whose problem a command makes: says which, and runs nothing.
int show_maker(const CheckCommand& command) {
  const ProblemMaker maker = read_problem_maker(command.problem);
  std::string line;
  for (const std::string& word : maker.command) line += (line.empty() ? "" : " ") + shell_word(word);
  if (command.json)
    print_json(nlohmann::ordered_json{
        {"kind", "make_problem"}, {"name", maker.name}, {"asks", {{{"what", "makes"}, {"text", line}}}}});
  else
    print_clean(
        "make_problem {}\nmakes      {}\n           -> `tune` and `convert` run this as you, outside of the "
        "sandbox, to make the problem\n",
        maker.name, line);
  return success;
}

int run(const CheckCommand& command) {
  if (command.static_only && has_problem_maker(command.problem)) return show_maker(command);
  Subject subject = read_subject(command.problem);
  if (subject.problem && !command.static_only)
    fill_generated_sizes(*subject.problem, options_of(command, *subject.problem).host);
  if (!command.json) print_description(subject);
  ProblemCheck check;
  if (subject.problem) {
    std::fflush(stdout);
    check = check_problem(*subject.problem, options_of(command, *subject.problem),
                          [](std::string_view stage) { print_clean(stderr, "{}\n", stage); });
  }
  if (command.json)
    print_check_json(subject, check);
  else
    print_findings(check, depth_text(check, subject, !command.static_only));
  return count_of(Severity::error, check.findings) != 0 ? nothing_found : success;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto* sub =
      app.add_subcommand("check", "Say whether a problem is a good one: read it, run it, look for faults");
  auto command = std::make_shared<CheckCommand>();
  sub->add_option("PROBLEM", command->problem, "A problem folder, a problem.json or a T1 file")->required();
  sub->add_flag("--static", command->static_only, "Only what can be seen without running anything");
  sub->add_flag("--quick", command->quick,
                "Leave out sanitizers and measuring what tunables change, which take a minute or so");
  sub->add_flag("--all", command->all, "Compare on every shape rather than the smallest few");
  sub->add_option("--sandbox", command->sandbox, sandbox_help)
      ->capture_default_str()
      ->check(CLI::IsMember(sandbox_names()));
  sub->add_option("--readable", command->readable, readable_help)->allow_extra_args(false);
  sub->add_option("--device", command->device,
                  "GPU to judge on, by number; of OpenCL also by platform and number within it, e.g. 1:0")
      ->capture_default_str();
  sub->add_option("--architecture", command->architecture,
                  "What GPU code is compiled for; default the device's, without one sm_90a or gfx90a");
  sub->add_flag("--json", command->json, "Print one JSON object");
  sub->footer(
      "Example: kernelsearch check examples/host/matmul\n"
      "Exit codes: 0 no errors (warnings allowed), 1 errors, 3 it cannot be read.");
  sub->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace kernelsearch::app
