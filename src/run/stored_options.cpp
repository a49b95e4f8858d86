// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stored_options.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch::detail {
namespace {

using nlohmann::json;

std::string absolute(const std::string& path) {
  return path.empty() ? "" : std::filesystem::absolute(path).string();
}

json parsed(const std::string& text) {
  json object = json::parse(text, nullptr, false);
  return object.is_object() ? object : json::object();
}

/// A member of the object, or the standard value where it is missing or of another type.
template <class T>
T member(const json& object, const char* name, T standard) {
  const auto found = object.find(name);
  if (found == object.end()) return standard;
  try {
    return found->get<T>();
  } catch (const json::exception&) {
    return standard;
  }
}

/// ConfigError where the run was begun with something that its store must not make us do, and that is not
/// asked for again: a store may come from others.
void ask_again(const RunRow& row, const char* option, const std::string& stored, bool given) {
  if (stored.empty() || given) return;
  raise<ConfigError>(
      "run " + std::to_string(number(row.id)) + " was begun with " + option + ", which no store may decide",
      stored, std::string("give ") + option + " again if you know and trust it");
}

std::string first_of(const std::vector<std::string>& list) {
  return list.empty() ? "" : list.front();
}

/// The folder of an option of a system; empty where it has none.
std::string folder_of(const std::string& system_options, const char* name) {
  return member(parsed(system_options), name, std::string());
}

/// Whether a path of a store is below the folder of its file: who keeps a store somewhere lets its runs write
/// there.
bool beside(const std::string& path, const std::filesystem::path& store) {
  std::error_code error;
  const auto folder = std::filesystem::weakly_canonical(store, error).parent_path();
  const auto inside = std::filesystem::weakly_canonical(path, error).lexically_relative(folder);
  return !error && !inside.empty() && *inside.begin() != "..";
}

}  // namespace

std::string encode_options(const StoredOptions& stored) {
  const RunOptions& o = stored.options;
  json out{{"problem", absolute(stored.problem)},
           {"budget", o.budget},
           {"jobs", o.measurement.jobs},
           {"cache", o.measurement.cache},
           {"learned_from", o.learn_from},
           {"devices", o.measurement.devices},
           {"samples", o.measurement.samples},
           {"where", o.where},
           {"configs", absolute(o.configs)},
           {"sandbox", o.measurement.sandbox},
           {"require_sandbox", o.measurement.require_sandbox},
           {"no_bounds", !o.bounds},
           {"no_reuse", !o.reuse}};
  if (!stored.problem_text.empty()) out["problem_text"] = stored.problem_text;
  if (!stored.baseline.empty()) out["baseline"] = absolute(stored.baseline);
  if (!o.measurement.readable.empty()) {
    out["readable"] = json::array();
    for (const std::string& folder : o.measurement.readable) out["readable"].push_back(absolute(folder));
  }
  if (!o.policy_command.empty())
    out.update({{"policy_command", o.policy_command},
                {"policy_folder", absolute(o.policy_folder.string())},
                {"policy_timeout", o.policy_timeout}});
  if (o.lanes.in_flight > 0) out["in_flight"] = o.lanes.in_flight;
  if (!o.policy_plugin.empty()) out["policy_plugin"] = absolute(o.policy_plugin.string());
  if (o.policy == "submit" && o.system.empty()) {
    out["suggest"] = o.suggest;
    out["strategies"] = o.strategies;
  }
  if (!o.system.empty())
    out.update({{"system", o.system},
                {"system_options", parsed(o.system_options)},
                {"models", absolute(o.models.file)},
                {"model", o.models.model},
                {"methods", absolute(o.methods)},
                {"proposals", o.proposals},
                {"inner_trials", o.inner_trials.value_or(0)},
                {"memory", stored.memory},
                {"no_counters", !o.counters},
                {"record_exchanges", absolute(o.models.record)},
                {"replay_exchanges", absolute(o.models.replay)},
                {"max_tokens", o.models.max_tokens},
                {"max_cost", o.models.max_cost}});
  if (!stored.root.empty()) out["root"] = parsed(stored.root);
  if (!stored.machine.empty()) out.update({{"machine", stored.machine}, {"peaks", stored.peaks}});
  // The name that stores have had for it since the one system that needs it came.
  if (!stored.system_settings.empty()) out["skill"] = parsed(stored.system_settings);
  return json_text(out);
}

StoredOptions decode_options(const RunRow& row) {
  const json first = parsed(row.info.options);
  StoredOptions stored;
  RunOptions& o = stored.options;
  stored.problem = member(first, "problem", stored.problem);
  stored.problem_text = member(first, "problem_text", stored.problem_text);
  stored.baseline = member(first, "baseline", stored.baseline);
  o.policy = row.info.policy;
  o.seed = row.info.seed;
  o.name = row.info.name;
  o.budget = member(first, "budget", o.budget);
  o.policy_command = member(first, "policy_command", o.policy_command);
  o.policy_folder = member(first, "policy_folder", std::string());
  o.policy_timeout = member(first, "policy_timeout", o.policy_timeout);
  o.policy_plugin = member(first, "policy_plugin", std::string());
  o.suggest = member(first, "suggest", std::string("none"));
  o.strategies = member(first, "strategies", o.strategies);
  o.measurement.jobs = member(first, "jobs", o.measurement.jobs);
  o.measurement.cache = member(first, "cache", o.measurement.cache);
  o.measurement.devices = member(first, "devices", o.measurement.devices);
  o.measurement.samples = member(first, "samples", o.measurement.samples);
  o.measurement.sandbox = member(first, "sandbox", o.measurement.sandbox);
  o.measurement.require_sandbox = member(first, "require_sandbox", o.measurement.require_sandbox);
  o.measurement.readable = member(first, "readable", o.measurement.readable);
  o.bounds = !member(first, "no_bounds", false);
  o.reuse = !member(first, "no_reuse", false);
  o.where = member(first, "where", o.where);
  o.configs = member(first, "configs", o.configs);
  o.learn_from = member(first, "learned_from", o.learn_from);
  if (const auto in_flight = member(first, "in_flight", std::int64_t{0}); in_flight > 0)
    o.lanes.in_flight = static_cast<std::size_t>(std::min<std::int64_t>(in_flight, 100000));
  stored.machine = member(first, "machine", stored.machine);
  stored.peaks = member(first, "peaks", stored.peaks);
  o.system = member(first, "system", o.system);
  if (o.system.empty()) return stored;
  json options = member(first, "system_options", json::object());
  if (!options.is_object()) options = json::object();
  // Stores of version 0.1 had these two beside the rest.
  for (const char* earlier : {"from_files", "wait"})
    if (first.contains(earlier) && !options.contains(earlier)) options[earlier] = first[earlier];
  if (const auto wait = options.find("wait"); wait != options.end() && wait->is_number())
    *wait = wait->get<double>();
  o.system_options = options.empty() ? "" : json_text(options);
  o.models.file = member(first, "models", o.models.file);
  o.models.model = member(first, "model", o.models.model);
  o.models.record = member(first, "record_exchanges", o.models.record);
  o.models.replay = member(first, "replay_exchanges", o.models.replay);
  o.models.max_tokens = member(first, "max_tokens", o.models.max_tokens);
  o.models.max_cost = member(first, "max_cost", o.models.max_cost);
  o.methods = member(first, "methods", o.methods);
  o.proposals = member(first, "proposals", o.proposals);
  o.inner_trials = member(first, "inner_trials", std::uint64_t{0});  // which earlier versions had not
  if (first.contains("root")) stored.root = first["root"].dump();
  o.counters = !member(first, "no_counters", false);
  stored.memory = std::max<std::int64_t>(member(first, "memory", std::int64_t{0}), 0);
  if (first.contains("skill")) stored.system_settings = first["skill"].dump();
  return stored;
}

void check_given_again(const RunRow& row, const RunOptions& o, const std::filesystem::path& store) {
  const RunOptions first = decode_options(row).options;
  const bool own_policy = !o.policy_command.empty() || !o.policy_plugin.empty();
  ask_again(row, "--policy-command", first.policy_command, own_policy);
  ask_again(row, "--policy-plugin", first.policy_plugin.string(), own_policy);
  ask_again(row, "--readable", first_of(first.measurement.readable), !o.measurement.readable.empty());
  if (first.system.empty()) return;
  const bool replays = !o.models.replay.empty() || !first.models.replay.empty();
  ask_again(row, "--models", first.models.file, replays || !o.models.file.empty());
  ask_again(row, "--record-exchanges", first.models.record, replays || !o.models.record.empty());
  const std::string files = folder_of(first.system_options, "from_files");
  ask_again(row, "--from-files", files,
            beside(files, store) || !folder_of(o.system_options, "from_files").empty());
}

StoredOptions resumed_options(const RunRow& row, RunOptions given) {
  StoredOptions stored = decode_options(row);
  RunOptions& first = stored.options;
  RunOptions o = std::move(given);
  o.policy = first.policy;
  o.system = first.system;
  o.suggest = first.suggest;
  o.strategies = first.strategies;
  o.seed = first.seed;
  o.name = first.name;
  o.where = first.where;
  o.configs = first.configs;
  // The same proposals come again only from the same knowledge.
  o.learn_from = first.learn_from;
  o.learn = false;
  if (o.budget.empty()) o.budget = first.budget;
  o.bounds = o.bounds && first.bounds;
  o.reuse = o.reuse && first.reuse;
  o.measurement.jobs = first.measurement.jobs;
  o.measurement.cache = first.measurement.cache;
  o.measurement.devices = first.measurement.devices;
  // What is proposed next depends on how many are out, wherever they are measured.
  if (o.lanes.in_flight == 0) o.lanes.in_flight = first.lanes.in_flight;
  if (o.measurement.samples == 0) o.measurement.samples = first.measurement.samples;
  if (!o.system.empty()) {
    json options = parsed(first.system_options);
    const json now = parsed(o.system_options);
    if (const auto variant = now.find("variant"); variant != now.end() && *variant != options["variant"])
      raise<ConfigError>("a run that goes on keeps its variant", variant->dump(),
                         "leave it out; this run is of " + options["variant"].dump());
    options.update(now);
    o.system_options = options.empty() ? "" : json_text(options);
    if (o.models.model.empty()) o.models.model = first.models.model;
    // A run that goes on spends no more than it was allowed, unless it is now allowed more.
    if (o.models.max_tokens == 0) o.models.max_tokens = first.models.max_tokens;
    if (o.models.max_cost == 0) o.models.max_cost = first.models.max_cost;
    if (o.models.replay.empty()) o.models.replay = first.models.replay;
    // Where all answers are recorded nobody is asked: the file then says who has which role, no more.
    if (o.models.file.empty() && !o.models.replay.empty()) o.models.file = first.models.file;
    o.methods = first.methods;
    o.proposals = first.proposals;
    o.inner_trials = first.inner_trials;
    o.root = first.root;
    o.counters = first.counters;
    // The same questions come again only from the same memory.
    if (!o.memory) stored.memory = 0;
  }
  first = std::move(o);
  return stored;
}

std::string stored_sources(const StoredOptions& resumed) {
  const RunOptions& o = resumed.options;
  std::string text;
  const auto add = [&text](const char* what, const std::string& value) {
    if (!value.empty()) text += (text.empty() ? "" : ", ") + std::string(what) + " " + value;
  };
  add("problem", resumed.problem);
  add("baseline", resumed.baseline);
  add("configurations", o.configs);
  for (const std::string& one : o.learn_from) add("earlier run", one);
  if (!o.system.empty()) {
    add("methods", o.methods);
    add("replayed exchanges", o.models.replay);
    add("workflow", folder_of(o.system_options, "workflow"));
  }
  return text;
}

}  // namespace kernelsearch::detail
