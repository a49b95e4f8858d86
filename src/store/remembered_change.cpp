// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/remembered_change.hpp"

#include <algorithm>
#include <cmath>
#include <istream>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/backend.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch {
namespace {

using nlohmann::json;

constexpr int change_format = 1;
constexpr int last_kind = static_cast<int>(MoveKind::submitted);

[[noreturn]] void refuse(const std::string& what, const json& given) {
  detail::raise<ConfigError>("no remembered change", what + ": " + json_text(given).substr(0, 80),
                             "give lines as `kernelsearch memory export` writes them");
}

const json& entry(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) refuse("it has no " + std::string(name), object);
  return *found;
}

std::string short_text(const json& value, const char* name, std::size_t longest) {
  if (!value.is_string()) refuse(std::string(name) + " is not a text", value);
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() > longest)
    refuse(std::string(name) + " is longer than " + std::to_string(longest) + " bytes", value);
  return text;
}

std::string text_of(const json& object, const char* name, std::size_t longest = ChangeLimits::name) {
  return short_text(entry(object, name), name, longest);
}

std::vector<std::string> names_in(const json& object, const char* name) {
  const json& list = entry(object, name);
  if (!list.is_array() || list.size() > ChangeLimits::names)
    refuse(std::string(name) + " is not a list of at most " + std::to_string(ChangeLimits::names), list);
  std::vector<std::string> names;
  for (const json& one : list) names.push_back(short_text(one, name, ChangeLimits::name));
  return names;
}

double positive(const json& value, const char* name) {
  if (!value.is_number() || !std::isfinite(value.get<double>()) || !(value.get<double>() > 0))
    refuse(std::string(name) + " is not a positive number", value);
  return value.get<double>();
}

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

ChangeEffect effect_of(const json& object) {
  if (!object.is_object()) refuse("effect is not an object", object);
  ChangeEffect effect;
  effect.ratio = positive(entry(object, "ratio"), "ratio");
  const json& interval = entry(object, "interval");
  if (!interval.is_array() || interval.size() != 2) refuse("interval is not a pair of numbers", interval);
  effect.interval = {positive(interval[0], "interval"), positive(interval[1], "interval")};
  if (effect.interval.low > effect.interval.high) refuse("interval ends before it begins", interval);
  const json& paired = entry(object, "paired");
  if (!paired.is_boolean()) refuse("paired is neither true nor false", paired);
  effect.paired = paired.get<bool>();
  return effect;
}

}  // namespace

std::string change_text(const RememberedChange& change) {
  json out{{"change_format", change_format},
           {"id", change.id},
           {"at", change.at},
           {"problem", change.problem},
           {"problem_digest", change.problem_digest},
           {"backend", change.backend},
           {"traits", change.traits},
           {"device", change.device},
           {"toolchain", change.toolchain},
           {"system", change.system},
           {"kind", to_string(change.kind)},
           {"strategies", change.strategies},
           {"prompt", change.prompt},
           {"prompt_version", change.prompt_version},
           {"model", change.model},
           {"limiter", change.limiter},
           {"diff", change.diff},
           {"settings", change.settings},
           {"verdict", to_string(change.verdict)},
           {"progress", change.progress},
           {"reason", change.reason},
           {"parent_kernel", change.parent_kernel},
           {"kernel", change.kernel}};
  if (change.overrun) out["overrun"] = *change.overrun;
  if (change.effect)
    out["effect"] = {{"ratio", change.effect->ratio},
                     {"interval", {change.effect->interval.low, change.effect->interval.high}},
                     {"paired", change.effect->paired}};
  return json_text(out);
}

RememberedChange change_from_text(std::string_view text) {
  const json in = text.size() <= ChangeLimits::line ? json::parse(text, nullptr, false) : json();
  if (!in.is_object())
    detail::raise<ConfigError>("no remembered change", std::string(text.substr(0, 80)),
                               "give lines as `kernelsearch memory export` writes them");
  if (entry(in, "change_format") != change_format)
    detail::raise<ConfigError>("a remembered change of another format", json_text(in["change_format"]),
                               "this version reads format " + std::to_string(change_format));
  RememberedChange change;
  change.id = text_of(in, "id");
  if (change.id.size() != 64 || !is_hexadecimal(change.id))
    refuse("id is not 64 hexadecimal digits", in["id"]);
  change.at = text_of(in, "at");
  change.problem = text_of(in, "problem");
  change.problem_digest = text_of(in, "problem_digest");
  change.backend = text_of(in, "backend");
  if (!backend_from(change.backend)) refuse("there is no such backend", in["backend"]);
  change.traits = names_in(in, "traits");
  change.device = text_of(in, "device");
  change.toolchain = text_of(in, "toolchain", ChangeLimits::reason);
  change.system = text_of(in, "system");
  const std::string kind = text_of(in, "kind");
  int known_kind = 0;
  while (known_kind <= last_kind && to_string(static_cast<MoveKind>(known_kind)) != kind) ++known_kind;
  if (known_kind > last_kind) refuse("there is no such kind of move", in["kind"]);
  change.kind = static_cast<MoveKind>(known_kind);
  change.strategies = names_in(in, "strategies");
  change.prompt = text_of(in, "prompt");
  change.prompt_version = text_of(in, "prompt_version");
  change.model = text_of(in, "model");
  change.limiter = text_of(in, "limiter");
  change.diff = text_of(in, "diff", ChangeLimits::diff);
  change.settings = text_of(in, "settings", ChangeLimits::reason);
  const auto verdict = verdict_from(text_of(in, "verdict"));
  if (!verdict) refuse("there is no such verdict", in["verdict"]);
  change.verdict = *verdict;
  const json& progress = entry(in, "progress");
  if (!progress.is_number() || !(progress.get<double>() >= 0) || progress.get<double>() > 1)
    refuse("progress is not a number from 0 to 1", progress);
  change.progress = progress.get<double>();
  change.reason = text_of(in, "reason", ChangeLimits::reason);
  if (in.contains("overrun")) {
    change.overrun = in["overrun"].get<Overrun>();
    if (change.verdict != Verdict::cheated || change.overrun->array.size() > ChangeLimits::name)
      refuse("overrun is not that of a refused change", in["overrun"]);
  }
  change.parent_kernel = text_of(in, "parent_kernel");
  change.kernel = text_of(in, "kernel");
  if (in.contains("effect")) {
    if (change.verdict != Verdict::ok) refuse("a change that failed has no effect", in["effect"]);
    change.effect = effect_of(in["effect"]);
  }
  return change;
}

std::vector<RememberedChange> read_changes(std::istream& in, const std::string& name) {
  std::vector<RememberedChange> changes;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      changes.push_back(change_from_text(line));
    } catch (const ConfigError& error) {
      throw ConfigError(error.what() + (" (" + name + ", line " + std::to_string(number) + ")"));
    }
  }
  if (in.bad())
    detail::raise<ConfigError>("cannot read the changes to the end", name, "check the file and the disk");
  return changes;
}

}  // namespace kernelsearch
