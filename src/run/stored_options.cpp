// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stored_options.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/run/run_option.hpp"
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

/// Whether runs of these options store the option.
bool is_stored(const RunOption& option, const RunOptions& o) {
  if (option.resume == OnResume::not_stored) return false;
  switch (option.stored) {
    case StoredFor::all:
      return true;
    case StoredFor::given:
      return !option.is_standard(o);
    case StoredFor::command:
      return !o.policy_command.empty();
    case StoredFor::submit:
      return o.policy == "submit" && o.system.empty();
    case StoredFor::system:
      return !o.system.empty();
    case StoredFor::elsewhere:
      break;
  }
  return false;
}

/// The value as the store has it: paths absolute, objects as objects, and of a flag that is true unless it is
/// said the opposite.
json stored_value(const RunOption& option, const RunOptions& o) {
  const std::optional<FieldValue> value = option.read(&o);
  if (option.negated()) return !std::get<bool>(*value);
  if (option.path == OptionPath::json) return parsed(std::get<std::string>(*value));
  json out = value ? field_to_json(*value) : json(0);  // nothing: none was asked for
  if (option.path == OptionPath::none) return out;
  if (out.is_string()) return absolute(out.get<std::string>());
  for (json& one : out) one = absolute(one.get<std::string>());
  return out;
}

/// Reads what the store says of an option; what it does not say, or says as another type, stays as it is.
void read_stored(const RunOption& option, const json& object, RunOptions& o) {
  const auto found = object.find(option.name_in_store());
  if (found == object.end()) return;
  const std::optional<FieldValue> value = field_from_json(*found);
  if (!value) return;
  if (const bool* opposite = std::get_if<bool>(&*value); option.negated() && opposite != nullptr)
    return option.write(&o, FieldValue(!*opposite));
  if (const Result<FieldValue> fits = option.try_given(*value)) option.write(&o, *fits);
}

/// What a value that was given names first; empty where it is the standard one.
std::string first_of(const RunOption& option, const RunOptions& o) {
  if (option.is_standard(o)) return {};
  const FieldValue value = *option.read(&o);
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) return list->front();
  return std::get<std::string>(value);
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
  json out{{"problem", absolute(stored.problem)}};
  if (!stored.problem_text.empty()) out["problem_text"] = stored.problem_text;
  if (!stored.baseline.empty()) out["baseline"] = absolute(stored.baseline);
  for (const RunOption& option : run_options())
    if (is_stored(option, o)) out[option.name_in_store()] = stored_value(option, o);
  if (!o.system.empty()) out["memory"] = stored.memory;
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
  stored.machine = member(first, "machine", stored.machine);
  stored.peaks = member(first, "peaks", stored.peaks);
  o.system = member(first, "system", o.system);
  o.suggest = "none";  // as of stores that do not say it
  for (const RunOption& option : run_options())
    if (option.resume != OnResume::not_stored && option.stored != StoredFor::elsewhere &&
        option.path != OptionPath::json && (option.stored != StoredFor::system || !o.system.empty()))
      read_stored(option, first, o);
  o.policy = row.info.policy;
  o.seed = row.info.seed;
  o.name = row.info.name;
  if (o.system.empty()) return stored;
  json options = member(first, "system_options", json::object());
  if (!options.is_object()) options = json::object();
  // Stores of version 0.1 had these two next to the rest.
  for (const char* earlier : {"from_files", "wait"})
    if (first.contains(earlier) && !options.contains(earlier)) options[earlier] = first[earlier];
  if (const auto wait = options.find("wait"); wait != options.end() && wait->is_number())
    *wait = wait->get<double>();
  o.system_options = options.empty() ? "" : json_text(options);
  if (!o.inner_trials) o.inner_trials = 0;  // which earlier versions had not
  if (first.contains("root")) stored.root = first["root"].dump();
  stored.memory = std::max<std::int64_t>(member(first, "memory", std::int64_t{0}), 0);
  if (first.contains("skill")) stored.system_settings = first["skill"].dump();
  return stored;
}

void check_given_again(const RunRow& row, const RunOptions& o, const std::filesystem::path& store) {
  const RunOptions first = decode_options(row).options;
  const auto ask_again = [&](const std::string& flag, const std::string& stored, bool given) {
    if (stored.empty() || given) return;
    raise<ConfigError>(
        "run " + std::to_string(number(row.id)) + " was begun with " + flag + ", which no store may decide",
        stored, "give " + flag + " again if you know and trust it");
  };
  // A policy of one's own may come in either way, and where all answers are recorded no model is asked.
  const bool own_policy = !o.policy_command.empty() || !o.policy_plugin.empty();
  const bool replays = !o.models.replay.empty() || !first.models.replay.empty();
  for (const RunOption& option : run_options())
    if (option.resume == OnResume::ask_again)
      ask_again(option.command_flag(), first_of(option, first),
                !option.is_standard(o) || (option.group == OptionGroup::search && own_policy) ||
                    (option.group == OptionGroup::models && replays));
  const std::string files = folder_of(first.system_options, "from_files");
  if (!files.empty())
    ask_again("--system '" + first.system + "(from_files=FOLDER)'", files,
              beside(files, store) || !folder_of(o.system_options, "from_files").empty());
}

StoredOptions resumed_options(const RunRow& row, RunOptions given) {
  StoredOptions stored = decode_options(row);
  const RunOptions& first = stored.options;
  RunOptions o = std::move(given);
  const std::string system_options = o.system_options, given_system = o.system;
  for (const RunOption& option : run_options())
    if (option.resume == OnResume::keep || (option.resume == OnResume::replace && option.is_standard(o)))
      if (const std::optional<FieldValue> value = option.read(&first)) option.write(&o, *value);
  // The same proposals come again only from the same knowledge.
  o.learn = false;
  if (!o.system.empty()) {
    json options = parsed(first.system_options);
    const json now = parsed(system_options);
    if (!now.empty() && !given_system.empty() && given_system != o.system)
      raise<ConfigError>("a run that goes on keeps its system", given_system,
                         "give options of " + o.system + " only");
    if (const auto variant = now.find("variant"); variant != now.end() && *variant != options["variant"])
      raise<ConfigError>("a run that goes on keeps its variant", variant->dump(),
                         "leave it out; this run is of " + options["variant"].dump());
    options.update(now);
    o.system_options = options.empty() ? "" : json_text(options);
    // Where all answers are recorded nobody is asked: the file then says who has which role, no more.
    if (o.models.file.empty() && !o.models.replay.empty()) o.models.file = first.models.file;
    // The same questions come again only from the same memory.
    if (!o.memory) stored.memory = 0;
  }
  stored.options = std::move(o);
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
