// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/front.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch {

Objectives objectives_of(const RunInfo& run) {
  const auto options = nlohmann::json::parse(run.options, nullptr, false);
  if (!options.is_object()) return {};
  const auto text = options.find("objectives");
  if (text == options.end() || !text->is_string()) return {};
  Result<Objectives> parsed = Objectives::try_parse(text->get<std::string>());
  return parsed ? *std::move(parsed) : Objectives();
}

std::string settings_line(const StoredTrial& trial) {
  const nlohmann::json values = parse_json(trial.candidate->values, "stored values");
  std::string text;
  for (const auto& [name, value] : values.items())
    text += (text.empty() ? "" : " ") + name + "=" + to_string(value_from_json(value));
  return text.empty() ? trial.candidate->key : text;
}

namespace {

std::string direction_words(const Objective& objective, bool unchecked) {
  return std::string(objective.maximize ? "higher" : "lower") + " is better" +
         (unchecked ? ", as the kernel says" : "");
}

}  // namespace

bool is_unchecked(const Objective& objective, const Evaluation& evaluation) {
  const auto& names = objective.value.names();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return evaluation.features.find("unchecked." + name).has_value();
  });
}

std::string better_words(const Objective& objective, const Evaluation& evaluation) {
  return direction_words(objective, is_unchecked(objective, evaluation));
}

bool ParetoFront::is_unchecked(const Objective& objective) const {
  return std::find(unchecked.begin(), unchecked.end(), objective.name) != unchecked.end();
}

std::string ParetoFront::words_of(const Objective& objective) const {
  return direction_words(objective, is_unchecked(objective));
}

ParetoFront pareto_front_of(const RunStore& store, RunId run) {
  ParetoFront front{objectives_of(store.run(run).info), {}, {}};
  if (front.objectives.only_time()) return front;
  std::vector<FrontTrial> trials;
  std::vector<std::vector<double>> losses;
  store.each_trial(run, [&](const StoredTrial& trial) {
    if (!trial.outcome.ok()) return;
    const Evaluation& evaluation = trial.outcome.evaluation;
    auto values = front.objectives.try_values(evaluation);
    auto its_losses = front.objectives.try_losses(evaluation);
    if (!values || !its_losses) return;
    for (const Objective& row : front.objectives.rows())
      if (is_unchecked(row, evaluation) && !front.is_unchecked(row)) front.unchecked.push_back(row.name);
    trials.push_back(
        {trial.outcome.id, *std::move(values), trial.candidate ? settings_line(trial) : std::string()});
    losses.push_back(*std::move(its_losses));
  });
  std::vector<std::size_t> kept = pareto_front(losses);
  std::stable_sort(kept.begin(), kept.end(),
                   [&](std::size_t a, std::size_t b) { return losses[a][0] < losses[b][0]; });
  for (const std::size_t i : kept) front.trials.push_back(std::move(trials[i]));
  return front;
}

std::optional<StoredTrial> best_trial_by(const RunStore& store, RunId run, std::string_view objective) {
  const Objectives objectives = objectives_of(store.run(run).info);
  std::vector<std::string> names;
  for (const Objective& row : objectives.rows()) names.push_back(row.name);
  if (objectives.only_time()) names.emplace_back("time");
  const auto found = std::find(names.begin(), names.end(), objective);
  if (found == names.end()) {
    const std::string nearest = nearest_name(objective, names);
    detail::raise<ConfigError>("the run has no such objective", objective,
                               nearest.empty() ? fmt::format("it has: {}", fmt::join(names, ", "))
                                               : "did you mean " + nearest + "?");
  }
  if (objectives.only_time()) return store.best_trial(run);
  const auto place = static_cast<std::size_t>(found - names.begin());
  std::optional<StoredTrial> best;
  double least = 0;
  store.each_trial(run, [&](const StoredTrial& trial) {
    if (!trial.outcome.ok()) return;
    const auto losses = objectives.try_losses(trial.outcome.evaluation);
    if (!losses || (best && !((*losses)[place] < least))) return;
    best = trial;
    least = (*losses)[place];
  });
  return best;
}

std::string format_objective(const Objective& objective, double value) {
  return objective.name == "time" ? format_seconds(value) : fmt::format("{:.4g}", value);
}

std::string format_objectives(const Objectives& objectives, const Outcome& outcome) {
  const auto values = objectives.try_values(outcome.evaluation);
  if (objectives.only_time() || !values) return format_seconds(outcome.evaluation.measurement.seconds);
  const std::span<const Objective> rows = objectives.rows();
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i)
    text += fmt::format("{}{} {}, {}", i == 0 ? "" : "; ", rows[i].name,
                        format_objective(rows[i], (*values)[i]), better_words(rows[i], outcome.evaluation));
  return rows.size() < 2 ? text : text + fmt::format("; scalar {:.4g}", outcome.objective);
}

std::string format_best(const RunInfo& run, double objective) {
  const Objectives objectives = objectives_of(run);
  if (objectives.only_time()) return format_seconds(objective);
  if (objectives.rows().size() > 1) return fmt::format("scalar {:.4g}", objective);
  const Objective& only = objectives.rows().front();
  return only.name + " " + format_objective(only, only.maximize ? 1 / objective : objective);
}

}  // namespace kernelsearch
