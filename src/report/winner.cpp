// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/winner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernelsearch/problem/compile_command.hpp"
#include "kernelsearch/problem/mlir_schedule.hpp"
#include "kernelsearch/problem/tunable_text.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/report/front.hpp"
#include "kernelsearch/report/improvement.hpp"
#include "kernelsearch/report/summary.hpp"
#include "kernelsearch/store/json.hpp"
#include "shader/ready_module.hpp"
#include "winner_text.hpp"

namespace kernelsearch {
namespace {

using detail::identifier;
using detail::one_line;
using detail::write_file;

struct Winner {
  RunRow run;
  StoredTrial trial;
  StoredKernel kernel;
  std::vector<NamedValue> values;
  std::string no_improvement;  ///< why it is not one; empty: it is one
};

std::vector<NamedValue> values_of(const StoredTrial& trial) {
  std::vector<NamedValue> values;
  const nlohmann::json stored = parse_json(trial.candidate->values, "stored values");
  for (const auto& [name, value] : stored.items()) values.emplace_back(name, value_from_json(value));
  return values;
}

Winner winner_of(const RunStore& store, RunId run, const Problem& problem, std::optional<TrialId> trial) {
  auto best = store.best_trial(run);
  // What pairs say of the winner does not hold for another trial.
  const std::string none = !trial || (best && best->outcome.id == *trial) ? no_improvement(store, run) : "";
  if (trial) best = store.trial(run, *trial);
  if (!best)
    detail::raise<ConfigError>("the run has no winner", "run " + std::to_string(number(run)),
                               "no candidate was right: look at its verdicts with `kernelsearch show`");
  const auto kernel = best->candidate ? store.kernel(best->candidate->kernel) : std::nullopt;
  if (!kernel)
    detail::raise<ConfigError>("the winner's code is not in the store",
                               "trial " + std::to_string(number(best->outcome.id)),
                               "only candidates that are kernels can be written as source");
  Winner winner{store.run(run), *best, *kernel, values_of(*best), none};
  // A schedule of MLIR is written as its command gets it: with the values in it.
  if (is_mlir_source(problem.names.device))
    winner.kernel.device =
        filled_mlir_source(winner.kernel.device, [&](std::string_view name) -> const Value* {
          const auto found = std::find_if(winner.values.begin(), winner.values.end(),
                                          [&](const NamedValue& one) { return one.first == name; });
          return found == winner.values.end() ? nullptr : &found->second;
        });
  return winner;
}

std::string comment(const Winner& winner, const Problem& problem) {
  const Measurement& measured = winner.trial.outcome.evaluation.measurement;
  std::string text = fmt::format("// {}: the best of {} trials, found by kernelsearch {}.\n",
                                 one_line(problem.name), winner.run.trials, winner.run.version);
  const Objectives objectives = objectives_of(winner.run.info);
  if (const auto values = objectives.try_values(winner.trial.outcome.evaluation))
    for (std::size_t i = 0; i < values->size(); ++i)
      text += fmt::format("//   {:<10} {}, {}\n", one_line(objectives.rows()[i].name),
                          format_objective(objectives.rows()[i], (*values)[i]),
                          better_words(objectives.rows()[i], winner.trial.outcome.evaluation));
  text += fmt::format("//   time       {} ({} to {})\n", format_seconds(measured.seconds),
                      format_seconds(measured.interval.low), format_seconds(measured.interval.high));
  if (measured.speedup)
    text += fmt::format("//   speedup    {} over {}, at 95 %\n", format_speedup(*measured.speedup),
                        baseline_name(winner.run.info.evaluator));
  if (!winner.no_improvement.empty())
    text += fmt::format("//   NO IMPROVEMENT: {}\n", one_line(winner.no_improvement));
  text += fmt::format("//   device     {}\n", one_line(winner.run.info.device));
  text += fmt::format("//   built with {}\n", one_line(detail::build_line(problem, winner.values)));
  return text + fmt::format("//   measured   {}, run {}, trial {}, seed {}\n", winner.trial.at,
                            number(winner.run.id), number(winner.trial.outcome.id), winner.run.info.seed);
}

nlohmann::ordered_json shape_record(const Problem& problem, const ShapeMeasurement& shape) {
  nlohmann::ordered_json record = {{"shape", shape.shape}, {"weight", shape.weight}};
  for (const Shape& known : problem.shapes)
    if (known.name == shape.shape)
      for (const auto& [name, value] : known.variables)
        record["variables"][name] = nlohmann::ordered_json(value_to_json(value));
  record["median_seconds"] = shape.median;
  record["interval_seconds"] = {shape.interval.low, shape.interval.high};
  record["spread"] = shape.spread;
  record["samples"] = shape.samples.size();
  record["ended"] = to_string(shape.ended);
  if (shape.speedup)
    record["speedup"] = {{"ratio", shape.speedup->ratio},
                         {"interval", {shape.speedup->interval.low, shape.speedup->interval.high}},
                         {"pairs", shape.speedup->pairs}};
  return record;
}

}  // namespace

std::string winner_source(const RunStore& store, RunId run, const Problem& problem,
                          std::optional<TrialId> trial) {
  const Winner winner = winner_of(store, run, problem, trial);
  // As its command gets it: in a language of its own, tunables in the command's words.
  if (!problem.build.command.empty() || problem.external) {
    std::string text;
    for (const std::string* region : {&winner.kernel.macros, &winner.kernel.device, &winner.kernel.host}) {
      text += *region;
      if (!text.empty() && text.back() != '\n') text += '\n';
    }
    return text;
  }
  if (problem.backend == Backend::vulkan)
    return detail::shader_text(comment(winner, problem), problem,
                               {winner.kernel.device, winner.kernel.host, winner.kernel.macros},
                               winner.values);
  return detail::source_text(comment(winner, problem),
                             {winner.kernel.device, winner.kernel.host, winner.kernel.macros}, winner.values,
                             problem.backend);
}

std::string winner_settings(const RunStore& store, RunId run, const Problem& problem,
                            std::optional<TrialId> trial) {
  const Winner winner = winner_of(store, run, problem, trial);
  return detail::settings_text(comment(winner, problem), problem.name, winner.values);
}

std::string winner_record(const RunStore& store, RunId run, const Problem& problem,
                          std::optional<TrialId> trial) {
  using nlohmann::ordered_json;
  const Winner winner = winner_of(store, run, problem, trial);
  const RunInfo& info = winner.run.info;
  const Evaluation& evaluation = winner.trial.outcome.evaluation;
  const Measurement& measured = evaluation.measurement;
  ordered_json record = {{"format", 1},
                         {"problem", problem.name},
                         {"problem_digest", info.problem_digest},
                         {"kernel_digest", winner.kernel.digest}};
  for (const auto& [name, value] : winner.values)
    record["settings"][name] = ordered_json(value_to_json(value));
  record["seconds"] = measured.seconds;
  record["interval_seconds"] = {measured.interval.low, measured.interval.high};
  if (measured.speedup)
    record["speedup"] = {{"ratio", measured.speedup->ratio},
                         {"interval", {measured.speedup->interval.low, measured.speedup->interval.high}},
                         {"confidence", 0.95},
                         {"pairs", measured.speedup->pairs}};
  record["improvement"] = winner.no_improvement.empty();
  if (!winner.no_improvement.empty()) record["no_improvement"] = winner.no_improvement;
  const Objectives objectives = objectives_of(info);
  if (const auto values = objectives.try_values(evaluation); values && !values->empty())
    for (std::size_t i = 0; i < values->size(); ++i)
      record["objectives"].push_back({{"name", objectives.rows()[i].name},
                                      {"better", objectives.rows()[i].maximize ? "higher" : "lower"},
                                      {"value", (*values)[i]}});
  if (const auto compared = store.finalists(run))
    record["finalists"] = ordered_json::parse(to_json_text(*compared));
  record["shapes"] = ordered_json::array();
  for (const ShapeMeasurement& shape : measured.shapes)
    record["shapes"].push_back(shape_record(problem, shape));
  record["device"] = info.device;
  record["toolchain"] = info.toolchain;
  if (problem.external) {
    record["command"] = problem.external->command;
    record["time"] = to_string(problem.external->clock);
  } else {
    // A ready module has none, and what a command makes of device code is not compiled by ours.
    if (!detail::is_ready_file(problem.names.device) &&
        (problem.build.command.empty() || !is_device(problem.backend)))
      record["compiler"] = expand_tunables(problem.build.compiler, winner.values);
    record["flags"] = compile_flags(problem, winner.values);
    if (!problem.build.libraries.empty()) record["libraries"] = problem.build.libraries;
    if (!problem.build.command.empty()) record["command"] = detail::build_words(problem, winner.values);
  }
  record["environment"] = ordered_json(parse_json(info.environment, "the environment of a run"));
  record["provenance"] = evaluation.provenance;
  for (const auto& [name, value] : evaluation.features) record["features"][name] = value;
  ordered_json& origin = record["run"];
  origin = {{"id", number(run)},
            {"name", info.name},
            {"policy", info.policy},
            {"generator", info.generator},
            {"evaluator", info.evaluator},
            {"seed", info.seed},
            {"options", ordered_json(parse_json(info.options, "the options of a run"))},
            {"trial", number(winner.trial.outcome.id)},
            {"trials", winner.run.trials},
            {"seconds", winner.run.seconds},
            {"started", winner.run.started},
            {"measured", winner.trial.at},
            {"ended", winner.run.reason},
            {"kernelsearch", winner.run.version}};
  const RunTotals totals = run_totals(store, run);
  for (std::size_t v = 0; v < totals.verdicts.size(); ++v)
    origin["verdicts"][std::string(to_string(static_cast<Verdict>(v)))] = totals.verdicts[v];
  return record.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

WinnerFiles write_winner(const RunStore& store, RunId run, const Problem& problem,
                         const std::filesystem::path& folder, std::optional<TrialId> trial) {
  const std::string name = identifier(problem.name);
  WinnerFiles files{folder / (name + "_best" + detail::kernel_extension(problem)),
                    folder / (name + "_settings.hpp"),
                    folder / (name + "_best.json"),
                    {}};
  const std::string source = winner_source(store, run, problem, trial);
  const std::string settings = winner_settings(store, run, problem, trial);
  const std::string record = winner_record(store, run, problem, trial);
  std::error_code error;
  std::filesystem::create_directories(folder, error);  // a failure shows when the first file is written
  if (problem.build.command.empty()) {
    // For a ready module the source is text, for people and JSON; its file is for drivers.
    const auto words = detail::is_ready_text(source) ? detail::ready_words(source)
                                                     : Result<std::vector<std::uint32_t>>(Fault{});
    write_file(files.source, words ? detail::ready_bytes(*words) : source);
  } else {
    const Winner winner = winner_of(store, run, problem, trial);
    const detail::CommandFiles made =
        detail::write_command_files(problem, {winner.kernel.device, winner.kernel.host, winner.kernel.macros},
                                    winner.values, comment(winner, problem), folder);
    files.source = made.source;
    files.script = made.script;
  }
  write_file(files.settings, settings);
  write_file(files.record, record);
  return files;
}

std::vector<Settings> best_settings(const RunStore& store, RunId run, const Problem& problem) {
  const RunRow row = store.run(run);
  std::vector<std::pair<double, std::optional<Settings>>> best(problem.shapes.size());
  // For one shape the winner is known by its pairs; for several that says nothing of each.
  std::optional<TrialId> winner;
  if (const auto compared = store.finalists(run);
      compared && std::count_if(problem.shapes.begin(), problem.shapes.end(),
                                [](const Shape& shape) { return shape.weight > 0.0; }) == 1)
    if (const auto chosen = store.best_trial(run)) winner = chosen->outcome.id;
  store.each_trial(run, [&](const StoredTrial& trial) {
    if (!trial.outcome.ok() || !trial.candidate) return;
    if (winner && trial.outcome.id != *winner) return;
    for (const ShapeMeasurement& measured : trial.outcome.evaluation.measurement.shapes)
      for (std::size_t s = 0; s < problem.shapes.size(); ++s) {
        const Shape& shape = problem.shapes[s];
        if (shape.name != measured.shape || shape.weight <= 0.0 || measured.median <= 0.0) continue;
        if (measured.ended == SamplingEnd::slower) continue;  // too few samples for a claim
        if (best[s].second && best[s].first <= measured.median) continue;
        Settings settings;
        settings.problem = problem.name;
        settings.device = row.info.device;
        settings.shape = shape.variables;
        settings.values = values_of(trial);
        settings.seconds = measured.median;
        if (measured.speedup) {
          settings.speedup = measured.speedup->ratio;
          settings.speedup_interval = measured.speedup->interval;
        }
        settings.source =
            fmt::format("run {}, trial {}, {}", number(run), number(trial.outcome.id), trial.at);
        best[s] = {measured.median, std::move(settings)};
      }
  });
  std::vector<Settings> found;
  for (auto& [median, settings] : best)
    if (settings) found.push_back(*std::move(settings));
  return found;
}

}  // namespace kernelsearch
