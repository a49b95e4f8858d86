// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "export_formats.hpp"
#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/value.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch::detail {
namespace {

/// The text without what commands a terminal: it may come from a store of others. Its line ends stay as they
/// are.
std::string clean_lines(std::string_view text) {
  std::string clean;
  for (std::size_t end; (end = text.find("\r\n")) != std::string_view::npos; text.remove_prefix(end + 2))
    clean += clean_text(text.substr(0, end)) + "\r\n";
  return clean + clean_text(text);
}

/// A field as RFC 4180 wants it: quoted when it holds a comma, a quote or a line end.
std::string quoted(const std::string& text_of_others) {
  const std::string field = clean_lines(text_of_others);
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char c : field) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

std::string text_of(double value) {
  return to_string(Value{value});
}

class Row {
 public:
  explicit Row(std::ostream& out) : out_(out) {}
  Row& add(const std::string& field) {
    if (!first_) out_ << ',';
    first_ = false;
    out_ << quoted(field);
    return *this;
  }
  Row& add(std::string_view field) { return add(std::string(field)); }
  Row& add(const char* field) { return add(std::string(field)); }
  Row& add(double value) { return add(text_of(value)); }
  Row& add(std::uint64_t value) { return add(std::to_string(value)); }
  Row& empty(int fields) {
    for (int i = 0; i < fields; ++i) add("");
    return *this;
  }
  void end() { out_ << "\r\n"; }

 private:
  std::ostream& out_;
  bool first_ = true;
};

// New columns go to the end of this list: programs may rely on the order.
constexpr const char* fixed_columns[] = {
    "run",           "problem",       "device",          "policy",          "seed",         "position",
    "trial",         "proposal",      "verdict",         "objective",       "seconds",      "spread",
    "seconds_low",   "seconds_high",  "speedup",         "speedup_low",     "speedup_high", "progress",
    "build_seconds", "check_seconds", "measure_seconds", "elapsed_seconds", "at",           "kernel",
    "config_key",    "parents",       "point",           "reason",          "provenance"};

using Values = std::map<std::string, std::string>;

Values values_of(const StoredTrial& trial) {
  Values values;
  if (!trial.candidate) return values;
  const nlohmann::json stored = parse_json(trial.candidate->values, "stored values");
  for (const auto& [name, value] : stored.items()) values[name] = to_string(value_from_json(value));
  return values;
}

void write_trial(const RunRow& run, const StoredTrial& trial, const std::set<std::string>& tunables,
                 const std::set<std::string>& features, std::ostream& out) {
  const Outcome& outcome = trial.outcome;
  const Evaluation& evaluation = outcome.evaluation;
  const Measurement& measured = evaluation.measurement;
  Row row(out);
  row.add(std::to_string(number(run.id))).add(run.info.problem).add(run.info.device).add(run.info.policy);
  row.add(run.info.seed).add(trial.position).add(number(outcome.id));
  outcome.origin ? row.add(number(outcome.origin->proposal)) : row.empty(1);
  row.add(to_string(evaluation.verdict));
  if (outcome.ok())
    row.add(outcome.objective)
        .add(measured.seconds)
        .add(measured.spread)
        .add(measured.interval.low)
        .add(measured.interval.high);
  else
    row.empty(5);
  if (outcome.ok() && measured.speedup)
    row.add(measured.speedup->ratio).add(measured.speedup->interval.low).add(measured.speedup->interval.high);
  else
    row.empty(3);
  row.add(evaluation.progress)
      .add(evaluation.phases.build)
      .add(evaluation.phases.check)
      .add(evaluation.phases.measure);
  row.add(trial.elapsed).add(trial.at);
  trial.candidate ? row.add(trial.candidate->kernel).add(trial.candidate->key) : row.empty(2);
  std::string parents;
  for (const TrialId parent : outcome.parents)
    parents += (parents.empty() ? "" : " ") + std::to_string(number(parent));
  row.add(parents).add(trial.point).add(evaluation.reason).add(evaluation.provenance);
  Values values = values_of(trial);
  for (const std::string& name : tunables) row.add(values[name]);
  for (const std::string& name : features) {
    const auto value = evaluation.features.find(name);
    value ? row.add(*value) : row.empty(1);
  }
  row.end();
}

}  // namespace

void export_csv(const ExportSource& source, std::ostream& out) {
  std::set<std::string> tunables, features;
  source.each_trial([&](const StoredTrial& trial) {
    for (const auto& [name, value] : values_of(trial)) tunables.insert(name);
    for (const auto& [name, value] : trial.outcome.evaluation.features) features.insert(name);
  });
  Row header(out);
  for (const char* const name : fixed_columns) header.add(name);
  for (const std::string& name : tunables) header.add("tunable." + name);
  for (const std::string& name : features) header.add("feature." + name);
  header.end();
  source.each_trial(
      [&](const StoredTrial& trial) { write_trial(source.run, trial, tunables, features, out); });
}

}  // namespace kernelsearch::detail
