// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/write_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace kernelsearch {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json pair(const Interval& interval) {
  return Json::array({number(interval.low), number(interval.high)});
}

void add_scores(Json& json, const Scores& scores) {
  for (std::size_t h = 0; h < area_names.size(); ++h) {
    const std::string name(area_names[h]);
    json[name] = number(scores.areas[h].value);
    if (scores.areas[h].interval) json[name + "_ci95"] = pair(*scores.areas[h].interval);
  }
  for (std::size_t k = 0; k < ratio_evaluations.size(); ++k)
    json["ratio@" + std::to_string(ratio_evaluations[k])] = scores.ratios[k];
  json["n5"] = number(scores.n5);
  json["n5_reached"] = scores.n5_reached;
  json["n1"] = number(scores.n1);
  json["n1_reached"] = scores.n1_reached;
  if (scores.policy_ms_per_evaluation) json["policy_ms_per_eval"] = *scores.policy_ms_per_evaluation;
}

Json space_as_json(const SpaceScores& s) {
  Json json;
  add_scores(json, s);
  json["repeats"] = s.repeats;
  json["B"] = s.budget;
  json["range"] = s.range;
  json["median_len"] = s.median_length;
  json["truncated"] = s.truncated;
  json["stopped_early"] = s.stopped_early;
  if (s.dropped_repeats + s.dropped_unknown > 0) {
    json["dropped_repeats"] = s.dropped_repeats;
    json["dropped_unknown"] = s.dropped_unknown;
  }
  if (s.dropped_outside > 0) json["dropped_outside"] = s.dropped_outside;
  if (s.ended_early > 0) json["ended_early"] = s.ended_early;
  return json;
}

Json summary_as_json(const PolicyScores& policy) {
  Json json;
  json["spaces"] = policy.spaces.size();
  std::size_t least = policy.spaces.front().repeats, most = least;
  std::size_t truncated = 0, stopped_early = 0;
  for (const SpaceScores& s : policy.spaces) {
    least = std::min(least, s.repeats);
    most = std::max(most, s.repeats);
    truncated += s.truncated ? 1 : 0;
    stopped_early += s.stopped_early ? 1 : 0;
  }
  json["repeats"] = Json::array({least, most});
  add_scores(json, policy);
  json["truncated_spaces"] = truncated;
  json["stopped_early_spaces"] = stopped_early;
  return json;
}

Json difference_as_json(std::string_view against, const PairedDifference& difference) {
  Json json{{"against", against}, {"pairs", difference.pairs}};
  for (std::size_t h = 0; h < area_names.size(); ++h) {
    const AreaDifference& area = difference.areas[h];
    json[std::string(area_names[h])] = {
        {"difference", area.mean}, {"ci95", pair(area.interval)}, {"p", area.p}, {"p_holm", area.adjusted_p}};
  }
  return json;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_row(const std::string& strategy, const std::string& space, const Scores& scores) {
  std::string row = quoted(strategy) + "," + quoted(space);
  for (const AreaScore& area : scores.areas) {
    row += fmt::format(",{}", area.value);
    row += area.interval ? fmt::format(",{},{}", area.interval->low, area.interval->high) : ",,";
  }
  for (const double ratio : scores.ratios) row += fmt::format(",{}", ratio);
  row += fmt::format(",{},{},{},{},", scores.n5, scores.n5_reached, scores.n1, scores.n1_reached);
  if (scores.policy_ms_per_evaluation) row += fmt::format("{}", *scores.policy_ms_per_evaluation);
  return row;
}

}  // namespace

std::string scores_to_json(std::span<const PolicyScores> scores, const Differences& differences) {
  Json json = Json::object();
  for (const PolicyScores& policy : scores) {
    Json& entry = json[policy.strategy];
    entry["summary"]["dev"] = summary_as_json(policy);
    Json& spaces = entry["spaces"] = Json::object();
    for (const SpaceScores& s : policy.spaces) spaces[s.space] = space_as_json(s);
    for (const PairedDifference& difference : differences.policies)
      if (difference.strategy == policy.strategy)
        entry["paired"] = difference_as_json(differences.against, difference);
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string scores_to_csv(std::span<const PolicyScores> scores) {
  std::string text = "strategy,space";
  for (const std::string_view name : area_names) text += fmt::format(",{0},{0}_low,{0}_high", name);
  for (const std::uint64_t k : ratio_evaluations) text += fmt::format(",ratio@{}", k);
  text +=
      ",n5,n5_reached,n1,n1_reached,policy_ms_per_eval,repeats,B,range,truncated,dropped_repeats,dropped_"
      "unknown,"
      "dropped_outside,ended_early\n";
  for (const PolicyScores& policy : scores) {
    for (const SpaceScores& s : policy.spaces)
      text += csv_row(policy.strategy, s.space, s) +
              fmt::format(",{},{},{},{},{},{},{},{}\n", s.repeats, s.budget, s.range, s.truncated ? 1 : 0,
                          s.dropped_repeats, s.dropped_unknown, s.dropped_outside, s.ended_early);
    text += csv_row(policy.strategy, "mean", policy) + ",,,,,,,,\n";
  }
  return text;
}

}  // namespace kernelsearch
