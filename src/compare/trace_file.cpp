// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/trace_file.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "parse_trace.hpp"

namespace kernelsearch {
namespace {

using Json = nlohmann::ordered_json;

/// What was proposed and not scored, by its name in the file.
constexpr std::pair<const char*, std::uint64_t Trace::*> dropped_members[] = {
    {"dropped_repeats", &Trace::dropped_repeats},
    {"dropped_unknown", &Trace::dropped_unknown},
    {"dropped_outside", &Trace::dropped_outside}};

const Landscape* find_space(std::span<const Landscape> landscapes, std::string_view name) {
  const auto found = std::find_if(landscapes.begin(), landscapes.end(),
                                  [&](const Landscape& landscape) { return landscape.name() == name; });
  return found == landscapes.end() ? nullptr : &*found;
}

}  // namespace

std::optional<comparing::ParsedTrace> comparing::parse_trace(std::string_view line,
                                                             std::span<const Landscape> landscapes) {
  const Json json = Json::parse(line, nullptr, false);
  const auto has = [&](const char* name, auto is) { return json.contains(name) && (json[name].*is)(); };
  if (!json.is_object() || !has("space", &Json::is_string) || !has("strategy", &Json::is_string) ||
      !has("repeat", &Json::is_number_unsigned) || !has("evals", &Json::is_array))
    return std::nullopt;
  Trace trace{json["space"].get<std::string>(), json["strategy"].get<std::string>(),
              json["repeat"].get<std::uint64_t>()};
  const Landscape* const space = find_space(landscapes, trace.space);
  if (space == nullptr) return ParsedTrace{std::move(trace), nullptr};
  const Json& evals = json["evals"];
  const bool timed = has("seconds", &Json::is_array) && json["seconds"].size() == evals.size();
  std::vector<bool> seen(space->size());
  for (std::size_t i = 0; i < evals.size(); ++i) {
    if (!evals[i].is_string()) return std::nullopt;
    const auto number = space->find(evals[i].get_ref<const std::string&>());
    if (!number) {
      ++trace.dropped_unknown;
    } else if (seen[*number]) {
      ++trace.dropped_repeats;
    } else {
      seen[*number] = true;
      trace.evaluations.push_back(*number);
      if (timed && json["seconds"][i].is_number()) trace.seconds.push_back(json["seconds"][i].get<double>());
    }
  }
  if (trace.seconds.size() != trace.evaluations.size()) trace.seconds.clear();
  if (has("cap", &Json::is_number_unsigned)) trace.cap = json["cap"].get<std::uint64_t>();
  if (has("wall_s", &Json::is_number)) trace.policy_seconds = json["wall_s"].get<double>();
  for (const auto& [name, counter] : dropped_members)
    if (has(name, &Json::is_number_unsigned)) trace.*counter += json[name].get<std::uint64_t>();
  trace.ended_early = has("ended_early", &Json::is_boolean) && json["ended_early"].get<bool>();
  return ParsedTrace{std::move(trace), space};
}

std::string trace_to_line(const Trace& trace, const Landscape& landscape) {
  Json json{{"space", trace.space}, {"strategy", trace.strategy}, {"repeat", trace.repeat}};
  Json& evals = json["evals"] = Json::array();
  for (const std::uint32_t configuration : trace.evaluations) evals.push_back(landscape.key(configuration));
  if (trace.cap) json["cap"] = *trace.cap;
  if (trace.policy_seconds) json["wall_s"] = *trace.policy_seconds;
  if (!trace.seconds.empty()) json["seconds"] = trace.seconds;
  for (const auto& [name, counter] : dropped_members)
    if (trace.*counter > 0) json[name] = trace.*counter;
  if (trace.ended_early) json["ended_early"] = true;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Trace trace_from_line(std::string_view line, std::span<const Landscape> landscapes) {
  std::optional<comparing::ParsedTrace> parsed = comparing::parse_trace(line, landscapes);
  if (!parsed)
    detail::raise<ConfigError>("not a trace", line.substr(0, 80),
                               "give an object with space, strategy, repeat and evals");
  if (parsed->space == nullptr)
    detail::raise<ConfigError>("a trace is of an unknown space", parsed->trace.space,
                               "give its recording too");
  return std::move(parsed->trace);
}

std::vector<Trace> read_traces(const std::filesystem::path& file, std::span<const Landscape> landscapes) {
  std::ifstream in(file);
  if (!in)
    detail::raise<ConfigError>("cannot read the traces", file.string(), "give a readable JSON Lines file");
  std::vector<Trace> traces;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::optional<comparing::ParsedTrace> parsed = comparing::parse_trace(line, landscapes);
    if (!parsed)
      detail::raise<ConfigError>(
          "not a trace", file.string() + ":" + std::to_string(number),
          "remove the line or correct it: an object with space, strategy, repeat, evals");
    if (parsed->space != nullptr) traces.push_back(std::move(parsed->trace));
  }
  return traces;
}

}  // namespace kernelsearch
