// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "csv_text.hpp"
#include "evaluations.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/store/json.hpp"
#include "raw_recording.hpp"

/// What `export_run` writes (docs/formats/exports.md), read back.
namespace kernelsearch::recorded {
namespace {

[[noreturn]] void malformed(const std::string& source, std::size_t line, const std::string& what) {
  detail::raise<ConfigError>(source + ":" + std::to_string(line) + ": not a line of an export", what,
                             "take the line out, or export the run again");
}

/// Puts the values into the order of `names`, which the first trial decides.
std::vector<Value> in_order(RawRecording& raw, const std::map<std::string, Value>& values,
                            const std::string& source, std::size_t line) {
  if (raw.names.empty()) {
    for (const auto& [name, value] : values) raw.names.push_back(name);
    raw.values.resize(raw.names.size());
  }
  std::vector<Value> ordered;
  for (const std::string& name : raw.names) {
    const auto found = values.find(name);
    if (found == values.end() || values.size() != raw.names.size())
      malformed(source, line, "its tunables are not those of the lines before");
    ordered.push_back(found->second);
  }
  return ordered;
}

Evaluation evaluation_of(const CsvRow& row, Verdict verdict) {
  Evaluation evaluation;
  if (verdict == Verdict::ok) {
    evaluation = measured(row.number("seconds"), {});
    evaluation.measurement.spread = row.number("spread");
    const double seconds = evaluation.measurement.seconds;
    evaluation.measurement.interval = {row.number("seconds_low", seconds),
                                       row.number("seconds_high", seconds)};
    if (!row.text("speedup").empty())
      evaluation.measurement.speedup =
          Speedup{row.number("speedup"), {row.number("speedup_low"), row.number("speedup_high")}, 0};
  } else {
    evaluation = Evaluation::failed(verdict, row.text("reason"));
  }
  evaluation.progress = row.number("progress", evaluation.progress);
  evaluation.phases = {row.number("build_seconds"), row.number("check_seconds"),
                       row.number("measure_seconds")};
  evaluation.provenance = row.text("provenance");
  return evaluation;
}

}  // namespace

RawRecording read_json_lines(std::string_view text, const std::string& source) {
  RawRecording raw;
  raw.unordered = true;
  std::size_t inner = 0;
  for (std::size_t at = 0, line = 1; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view one = text.substr(at, end - at);
    const bool last = end == text.size();
    at = end + 1;
    if (one.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const nlohmann::json json = nlohmann::json::parse(one, nullptr, false);
    if (json.is_discarded() && last) {
      raw.notes.push_back("the last line was cut in the middle: left out");
      break;
    }
    if (!json.is_object() || !json.contains("evaluation"))
      malformed(source, line, std::string(one.substr(0, 60)));
    if (!json.contains("candidate")) continue;  // nothing was tried
    RawTrial trial;
    std::map<std::string, Value> values;
    try {
      if (const auto run = json.find("run"); run != json.end()) {
        raw.kernel = run->value("problem", raw.kernel);
        raw.device = run->value("device", raw.device);
      }
      for (const auto& [name, value] : json.at("candidate").at("values").items())
        values.emplace(name, value_from_json(value));
      trial.evaluation = json.at("evaluation").get<Evaluation>();
      trial.time_stamp = json.value("at", "");
      if (json.contains("inner")) ++inner;
    } catch (const nlohmann::json::exception& error) {
      malformed(source, line, error.what());
    } catch (const ConfigError& error) {
      malformed(source, line, error.what());
    }
    trial.values = in_order(raw, values, source, line);
    raw.trials.push_back(std::move(trial));
  }
  if (inner > 0) raw.notes.push_back("inner trials of " + counted(inner, "trial") + ": left out");
  return raw;
}

RawRecording read_csv(std::string_view text, const std::string& source) {
  RawRecording raw;
  raw.unordered = true;
  const auto refuse = [&source](std::size_t line, const std::string& what) { malformed(source, line, what); };
  const auto use = [&](const CsvRow& row, const std::vector<std::string>& header,
                       const std::vector<std::string>& fields, std::size_t line) {
    const auto verdict = verdict_from(row.text("verdict"));
    if (!verdict) malformed(source, line, "the verdict " + row.text("verdict"));
    if (row.text("config_key").empty() && !has_candidate(*verdict)) return;
    const auto number_of = [&](const std::string& column, const std::string& field) {
      const std::optional<double> number = try_to_number(csv_value(field));
      if (!number) malformed(source, line, column + " is not a number: " + field);
      return *number;
    };
    if (*verdict == Verdict::ok) (void)number_of("seconds", row.text("seconds"));
    RawTrial trial;
    trial.evaluation = evaluation_of(row, *verdict);
    trial.time_stamp = row.text("at");
    std::map<std::string, Value> values;
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (header[i].starts_with("tunable.")) values.emplace(header[i].substr(8), csv_value(fields[i]));
      if (header[i].starts_with("feature.") && !fields[i].empty())
        trial.evaluation.features.set(header[i].substr(8), number_of(header[i], fields[i]));
    }
    trial.values = in_order(raw, values, source, line);
    raw.kernel = row.text("problem");
    raw.device = row.text("device");
    raw.trials.push_back(std::move(trial));
  };
  if (each_csv_row(text, refuse, use)) raw.notes.push_back("the last line was cut in the middle: left out");
  return raw;
}

}  // namespace kernelsearch::recorded
