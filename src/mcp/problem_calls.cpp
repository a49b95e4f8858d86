// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "kernelsearch/agents/feedback.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/core/history.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/run/stored_candidate.hpp"
#include "kernelsearch/run/suggested_moves.hpp"
#include "kernelsearch/store/json.hpp"
#include "kernelsearch/systems/policy_options_schema.hpp"
#include "problem_json.hpp"
#include "run_json.hpp"
#include "tool_kit.hpp"

/// Tools that say what is to be computed, what is known of it, and what can be tried.
namespace kernelsearch::detail {
namespace {

using nlohmann::json;

/// Whether a condition over features holds; nothing where a feature that it asks for is not known.
std::optional<bool> holds(const json& definition, const char* key, const Features& features) {
  const auto text = definition.find(key);
  if (text == definition.end() || !text->is_string()) return std::nullopt;
  std::string error;
  const std::optional<Expression> condition = Expression::try_parse(text->get<std::string>(), error);
  if (!condition) return std::nullopt;
  std::vector<Value> values;
  for (const std::string& name : condition->names()) {
    const auto value = features.find(name);
    if (!value) return std::nullopt;
    values.emplace_back(*value);
  }
  return condition->try_test(values);
}

/// Why the method is not worth trying on a kernel with these features; empty where nothing says so.
std::string objection(const json& definition, const Features& features) {
  const auto words = [&definition](const char* key, const char* condition) {
    return definition.value(key, "") + " (" + definition.value(condition, "") + ")";
  };
  if (holds(definition, "when", features) == false) return words("unless", "when");
  if (holds(definition, "skip", features) == true) return words("skip_words", "skip");
  if (holds(definition, "trigger", features) == false)
    return "nothing in the profile asks for it: not so that " + words("trigger_words", "trigger");
  return {};
}

/// The texts of a list, joined by commas; empty where there is none.
std::string words_of(const json& definition, const char* key) {
  std::string words;
  if (const auto list = definition.find(key); list != definition.end() && list->is_array())
    for (const json& one : *list)
      if (one.is_string()) words += (words.empty() ? "" : ", ") + one.get<std::string>();
  return words;
}

/// What to do, what to choose and what goes wrong, a line each.
void add_part(const json& part, std::string& text) {
  constexpr std::pair<const char*, const char*> lists[] = {
      {"steps", ""}, {"knobs", "to choose: "}, {"hazards", "take care: "}};
  for (const auto& list : lists)
    if (const auto lines = part.find(list.first); lines != part.end() && lines->is_array())
      for (const json& line : *lines)
        if (line.is_string()) text += std::string("- ") + list.second + line.get<std::string>() + '\n';
}

/// What the method asks for, step by step, from its definition.
std::string steps_text(const MethodEntry& entry, const json& definition) {
  std::string text = entry.description + '\n';
  add_part(definition, text);
  for (const json& part : definition.value("on", json::array())) {
    const std::string needs = words_of(part, "needs"), lacks = words_of(part, "lacks");
    text += "Where the device has " + (needs.empty() ? "any features" : needs) +
            (lacks.empty() ? "" : " and not " + lacks) + ":\n";
    add_part(part, text);
  }
  std::size_t number = 0;
  for (const json& pass : definition.value("passes", json::array()))
    for (const json& edit : pass.value("edits", json::array()))
      text += fmt::format("{}. {} (region {}): {}\n", ++number, pass.value("name", ""),
                          edit.value("region", ""), edit.value("instruction", ""));
  if (const std::string names = words_of(definition, "after"); !names.empty())
    text += "It builds on " + names + ".\n";
  if (const auto tunables = definition.find("tunables"); tunables != definition.end()) {
    text += "It introduces tunables, to be declared with submit_kernel: tunables " + tunables->dump();
    if (const auto rules = definition.find("constraints"); rules != definition.end())
      text += ", constraints " + rules->dump();
    text += '\n';
  }
  return text;
}

/// Folders that `apply` takes methods from, in this order where a name is in several.
constexpr std::string_view applied_folders[] = {"strategies", "transformations", "methods"};

std::string nearest_of(const std::vector<MethodEntry>& entries, const std::string& name,
                       std::string_view backend) {
  std::vector<std::string> names;
  for (const MethodEntry& entry : entries)
    if (entry.is_for_backend(backend)) names.push_back(entry.name);
  const std::string nearest = nearest_name(name, names);
  return nearest.empty() ? "call list_methods for what there is" : "did you mean " + nearest + "?";
}

/// The method of that name for the backend; ConfigError where there is none.
const MethodEntry& method_named(const std::vector<MethodEntry>& entries, const std::string& name,
                                std::string_view backend) {
  const MethodEntry* elsewhere = nullptr;
  for (const std::string_view folder : applied_folders)
    for (const MethodEntry& entry : entries) {
      if (entry.folder != folder || entry.name != name) continue;
      if (entry.is_for_backend(backend)) return entry;
      elsewhere = &entry;
    }
  if (elsewhere == nullptr)
    raise<ConfigError>("there is no such strategy, transformation or method", name,
                       nearest_of(entries, name, backend));
  std::string backends;
  for (const std::string& one : elsewhere->backends) backends += (backends.empty() ? "" : ", ") + one;
  raise<ConfigError>(name + " is written for " + backends, std::string(backend),
                     nearest_of(entries, name, backend));
}

/// Where a kernel comes from and what was tried from it, as models are told; configurations of it are
/// counted.
std::string memory_text(const RunStore& store, RunId run, const Problem& problem, const StoredTrial& of) {
  constexpr std::size_t most_lines = 20, most_failures = 3;
  TrialLog<Candidate> log;
  std::size_t tuned = 0;
  store.each_trial(run, [&](const StoredTrial& trial) {
    Trial<Candidate> known{std::nullopt, trial.outcome};
    const json point = json::parse(trial.point, nullptr, false);
    if (point.is_object() && point.contains("kind")) known.outcome.move = point.get<Move>();
    const bool child = !trial.outcome.parents.empty() && trial.outcome.parents.front() == of.outcome.id;
    if (child && known.outcome.move && known.outcome.move->strategies == std::vector<std::string>{"tune"}) {
      ++tuned;
      known.outcome.parents.clear();
    } else if (trial.candidate && (trial.outcome.id == of.outcome.id || (child && !trial.outcome.ok()))) {
      known.candidate = stored_candidate(store, problem, trial);  // what differs is shown
    }
    log.append(std::move(known));
  });
  const History<Candidate> history(log, log.size());
  std::string text;
  if (const std::string lineage = lineage_text(history, of.outcome.id); !lineage.empty())
    text += "\n## How it came about\n\n" + lineage;
  const TriedText tried = tried_text(history, of.outcome.id, kernel_language(problem));
  if (tried.lines.empty() && tuned == 0) return text;
  text += "\n## What was tried from it\n\n";
  for (std::size_t i = 0; i < std::min(most_lines, tried.lines.size()); ++i) text += tried.lines[i];
  if (tried.lines.size() > most_lines)
    text += fmt::format("({} older attempts are left out)\n", tried.lines.size() - most_lines);
  if (tuned > 0)
    text += fmt::format("({} {} of it {} tried by tune)\n", tuned,
                        tuned == 1 ? "configuration" : "configurations", tuned == 1 ? "was" : "were");
  for (std::size_t i = 0; i < std::min(most_failures, tried.failures.size()); ++i)
    text += '\n' + tried.failures[i];
  return text;
}

}  // namespace

std::string RunTools::facts(RunId run, const StoredTrial& trial) const {
  const Problem problem = manager.problem_of(run);
  std::string text = "## Machine\n\n" + manager.machine_of(run) + '\n';
  text += problem_text(problem, manager.facts_of(run));
  if (const std::string goal = goal_text(run_objectives(manager, run)); !goal.empty()) text += '\n' + goal;
  text += fmt::format("\n## Kernel: {} of run {}\n\n", trial_name(trial.outcome.id), number(run));
  if (trial.candidate)
    text += kernel_text(stored_candidate(manager.store(), problem, trial), kernel_language(problem),
                        problem.external.has_value()) +
            '\n';
  return text + feedback_text(trial.outcome) + memory_text(manager.store(), run, problem, trial);
}

ToolReply RunTools::describe_problem(const json& arguments, const ToolCall&) const {
  if (arguments.contains("run") == arguments.contains("problem")) {
    std::string names;
    for (const std::string& name : manager.root().problems()) names += (names.empty() ? ": " : ", ") + name;
    return ToolReply::failed("name one: run, a run's number, or problem, a path below the root" + names);
  }
  Problem problem;
  ProblemFacts facts;
  if (arguments.contains("run")) {
    const RunId run = run_of(manager, arguments);
    problem = manager.problem_of(run);
    facts = manager.facts_of(run);
    problem.objectives = run_objectives(manager, run);
  } else {
    problem = read_problem(manager.root().find_problem(arguments["problem"].get<std::string>()));
    try {
      facts.peaks = device_peaks(problem);
    } catch (const Error&) {  // then shapes have no least time
    }
  }
  const std::string goal = goal_text(problem.objectives);
  return replied(problem_text(problem, facts) + (goal.empty() ? "" : '\n' + goal), problem_json(problem));
}

ToolReply RunTools::prompt(const json& arguments, const ToolCall&) const {
  const RunId run = run_of(manager, arguments);
  return {facts(run, trial_or_best(manager, run, arguments)), {}, false};
}

ToolReply RunTools::apply(const json& arguments, const ToolCall&) const {
  const RunId run = run_of(manager, arguments);
  const StoredTrial trial = trial_or_best(manager, run, arguments);
  const std::string backend(to_string(manager.problem_of(run).backend));
  const std::vector<MethodEntry> entries = read_method_files(options.data);
  const MethodEntry& entry = method_named(entries, arguments["name"].get<std::string>(), backend);
  const json definition = json::parse(entry.definition);
  std::string text = facts(run, trial) + fmt::format("\n## What to do: {}\n\n", entry.name);
  text += steps_text(entry, definition);
  if (const std::string why = objection(definition, trial.outcome.evaluation.features); !why.empty())
    text += "It may not be worth trying on this kernel: " + why + '\n';
  text += fmt::format(
      "\n## How to answer\n\nCall submit_kernel with {{\"run\": {}, \"parent\": {}, \"strategies\": "
      "[\"{}\"]}} "
      "and each region that changed, whole: device, host or macros. Keep the function's name and "
      "signature. Sizes worth searching may be tunables: macros that the code uses, declared in tunables "
      "and constraints, which tune then searches. If it does not apply to this kernel, submit nothing and "
      "try another.\n",
      number(run), number(trial.outcome.id), entry.name);
  return {std::move(text), {}, false};
}

ToolReply RunTools::list_methods(const json& arguments, const ToolCall&) const {
  json out{{"policies", json::array()}, {"suggesting_policies", json::array()}, {"methods", json::array()}};
  const std::string folder = arguments.value("folder", ""), name = arguments.value("name", "");
  std::string backend = arguments.value("backend", "");
  std::vector<std::string> traits;
  if (const auto trait = arguments.find("trait"); trait != arguments.end()) traits.push_back(*trait);
  // A problem says both; without one, that of the newest run.
  std::optional<RunId> run;
  if (arguments.contains("run")) {
    run = run_of(manager, arguments);
  } else if (backend.empty()) {
    if (const auto newest = manager.store().find_run("latest")) run = newest->id;
  }
  if (run && (backend.empty() || traits.empty())) {
    const bool asked = arguments.contains("run");
    try {
      const Problem problem = manager.problem_of(*run);
      if (backend.empty()) backend = to_string(problem.backend);
      if (traits.empty() && asked) traits = problem.traits;
    } catch (const Error&) {
      if (asked) throw;  // the newest run was a guess
    }
  }
  std::string text;
  if ((folder.empty() || folder == "policies") && name.empty()) {
    text = "policies over tunables:";
    for (const ConfigPolicyEntry& entry : config_policies()) {
      out["policies"].push_back({{"name", entry.name}, {"summary", entry.summary}});
      text += fmt::format(" {}", entry.name);
    }
    text += "\npolicies that suggest moves to the one who writes kernels:";
    for (const MovePolicyEntry& entry : move_policies()) {
      out["suggesting_policies"].push_back({{"name", entry.name}, {"summary", entry.summary}});
      text += fmt::format(" {}", entry.name);
    }
  }
  for (const ConfigPolicyEntry& entry : config_policies()) {
    if (entry.name != name || !(folder.empty() || folder == "policies")) continue;
    out["policies"].push_back({{"name", entry.name},
                               {"summary", entry.summary},
                               {"options", json::parse(policy_options_schema(entry))}});
    text = fmt::format("{}: {}", entry.name, entry.summary);
    for (const PolicyOption& option : entry.options)
      text += fmt::format("\n{}: {}", option.name, option.summary);
  }
  std::string shown;
  std::size_t hidden = 0;
  for (const MethodEntry& entry : read_method_files(options.data)) {
    if ((!folder.empty() && entry.folder != folder) || (!name.empty() && entry.name != name)) continue;
    const bool fits = (backend.empty() || entry.is_for_backend(backend)) && entry.is_for_traits(traits);
    if (!fits && name.empty()) {
      ++hidden;
      continue;
    }
    json one{{"folder", entry.folder}, {"name", entry.name}};
    if (name.empty()) {
      one["summary"] = entry.summary();
    } else {
      one["definition"] = json::parse(entry.definition);
      one["file"] = entry.file;
    }
    if (shown != entry.folder) text += fmt::format("{}{}:", text.empty() ? "" : "\n", shown = entry.folder);
    text += name.empty() ? " " + entry.name : fmt::format(" {}: {}", entry.name, entry.description);
    out["methods"].push_back(std::move(one));
  }
  if (text.empty() && hidden == 0)
    return ToolReply::failed("there is no such method; call list_methods without arguments for all");
  if (!backend.empty()) out["backend"] = backend;
  out["left_out"] = hidden;
  if (hidden > 0)
    text += fmt::format("{}{} are for other {}; give another backend or trait for those",
                        text.empty() ? "" : "\n", hidden, traits.empty() ? "backends" : "backends or traits");
  return replied(text, out);
}

}  // namespace kernelsearch::detail
