// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/export_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "kernelsearch/core/device_identity.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/run/measurement_context.hpp"
#include "kernelsearch/run/run.hpp"
#include "kernelsearch/store/json.hpp"
#include "stored_options.hpp"

namespace kernelsearch {
namespace {

/// A trial whose settings may be the plan's for a shape.
struct Choice {
  StoredTrial trial;
  Candidate candidate;
  double median = 0.0;  ///< on the shape
  std::optional<Speedup> over_default = {};
};

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const auto& [name, value] : shape.variables)
    text += (text.empty() ? "" : " ") + name + "=" + to_string(value);
  return text.empty() ? shape.name : text;
}

const ShapeMeasurement* measured_on(const StoredTrial& trial, const Shape& shape) {
  for (const ShapeMeasurement& one : trial.outcome.evaluation.measurement.shapes)
    if (one.shape == shape.name && one.median > 0.0) return &one;
  return nullptr;
}

class Exporter {
 public:
  Exporter(RunStore& store, RunId run, const Problem& problem, const PlanExportOptions& options)
      : store_(store),
        problem_(problem),
        options_(options),
        row_(store.run(run)),
        kernel_(std::make_shared<const Kernel>(problem.kernel)),
        default_{kernel_, kernel_->space.default_config()},
        cache_(detail::decode_options(row_).options.measurement.cache) {
    if (cache_.empty()) cache_ = cache_mode({}, problem.backend);
    if (row_.info.problem_digest != measurement_digest(problem, cache_))
      detail::raise<ConfigError>("the problem is not the one that the run tuned", row_.info.problem,
                                 "give the problem as it was, or tune it again");
    const RunResult result = stored_result(store, run, problem);
    if (!result.best)
      detail::raise<ConfigError>(
          "the run has no winner to put into a plan", "run " + std::to_string(number(run)),
          "see why trials failed: `kernelsearch show " + std::to_string(number(run)) + " --failed`");
    winner_ = *result.best;
    candidate_of(winner_);  // refuses what is not a configuration of the kernel
    trials_ = store.trials(run);
    // For trials that tie with the winner, which only recorded times do, the one told first depends on the
    // order of the search; the configuration's key does not.
    const double objective = winner_.outcome.objective;
    for (const StoredTrial& trial : trials_)
      if (trial.outcome.ok() && trial.candidate && trial.outcome.objective == objective &&
          trial.candidate->key < winner_.candidate->key)
        winner_ = trial;
  }

  PlanExport plan() {
    ProblemPlan part;
    part.problem = problem_.name;
    part.problem_digest = problem_digest(problem_);
    part.kernel_digest = kernel_digest(problem_.kernel);
    part.backend = to_string(problem_.backend);
    part.device = device_identity(row_.info.device);
    part.cache = cache_;
    part.never_worse = options_.never_worse;
    part.max_distance = options_.max_distance;
    part.default_values = named_values(kernel_->space, default_.config);
    PlanExport made;
    std::size_t timed = 0, unpaired = 0;
    for (std::size_t s = 0; s < problem_.shapes.size(); ++s) {
      if (problem_.shapes[s].weight <= 0.0) continue;
      ++timed;
      if (!add_shape(s, part, made.notes)) ++unpaired;
    }
    if (options_.never_worse && unpaired == timed)
      detail::raise<ConfigError>(
          "a plan may not be slower than the default configuration, and nothing was measured in pairs with "
          "it",
          fmt::format("run {} of {}, {} shapes", number(row_.id), row_.info.problem, timed),
          "measure the pairs now with --measure, or take what is unproven with --any");
    made.plan = Plan({std::move(part)});
    return made;
  }

 private:
  /// False where nothing says how the shape compares with the default.
  bool add_shape(std::size_t s, ProblemPlan& part, std::vector<std::string>& notes) {
    const Shape& shape = problem_.shapes[s];
    std::vector<Choice> choices = choices_for(s);
    const bool default_is_best = std::all_of(choices.begin(), choices.end(), [&](const Choice& c) {
      return c.candidate.config == default_.config;
    });
    for (Choice& choice : choices)
      if (choice.candidate.config != default_.config) choice.over_default = pairs(s, choice, notes);
    std::stable_sort(choices.begin(), choices.end(),
                     [](const Choice& a, const Choice& b) { return before(a, b); });
    const Choice& best = choices.front();
    PlanEntry entry;
    entry.shape = shape.variables;
    entry.values = named_values(kernel_->space, best.candidate.config);
    entry.seconds = best.median;
    entry.over_default = best.over_default;
    entry.trial = number(best.trial.outcome.id);
    entry.toolchain = row_.info.toolchain;
    const std::string said = entry.over_default
                                 ? fmt::format("{} over the default, {} pairs",
                                               format_speedup(*entry.over_default), entry.over_default->pairs)
                                 : "not measured in pairs with the default";
    if (default_is_best) {
      notes.push_back(fmt::format("{}: the default is the fastest", shape_text(shape)));
      part.default_kept.push_back(std::move(entry));
      return true;
    }
    const bool taken = entry.proven() || !options_.never_worse;
    notes.push_back(fmt::format("{}: {} ({}, trial {})", shape_text(shape),
                                taken ? "other settings" : "the default stays", said, entry.trial));
    const bool paired = entry.over_default.has_value();
    (taken ? part.entries : part.default_kept).push_back(std::move(entry));
    return paired;
  }

  /// By what pairs say; else by time. The configuration's key decides the rest, so that runs that saw the
  /// same data agree whatever the order they saw it in.
  static bool before(const Choice& a, const Choice& b) {
    if (a.over_default.has_value() != b.over_default.has_value()) return a.over_default.has_value();
    if (a.over_default && a.over_default->interval.low != b.over_default->interval.low)
      return a.over_default->interval.low > b.over_default->interval.low;
    if (a.median != b.median) return a.median < b.median;
    return a.trial.candidate->key < b.trial.candidate->key;
  }

  /// The winner, and where it is the winner over several shapes the fastest on this one.
  std::vector<Choice> choices_for(std::size_t s) const {
    const Shape& shape = problem_.shapes[s];
    const auto timed = std::count_if(problem_.shapes.begin(), problem_.shapes.end(),
                                     [](const Shape& one) { return one.weight > 0.0; });
    const ShapeMeasurement* of_winner = measured_on(winner_, shape);
    const double seconds = winner_.outcome.evaluation.measurement.seconds;
    std::vector<Choice> choices;
    choices.reserve(2);
    choices.push_back({winner_, candidate_of(winner_), of_winner != nullptr ? of_winner->median : seconds});
    std::optional<Choice> fastest;
    for (const StoredTrial& trial : trials_) {
      if (!trial.outcome.ok() || !trial.candidate) continue;
      const ShapeMeasurement* of_trial = measured_on(trial, shape);
      // With one shape the winner is the fastest by definition; only its equals are looked at.
      if (timed == 1 && trial.outcome.evaluation.measurement.seconds != seconds) continue;
      if (of_trial != nullptr && of_trial->ended == SamplingEnd::slower)
        continue;  // too few samples for a claim
      if (of_trial == nullptr && timed > 1) continue;
      Choice choice{trial, candidate_of(trial), of_trial != nullptr ? of_trial->median : seconds};
      if (!fastest || before(choice, *fastest)) fastest = std::move(choice);
    }
    if (fastest && fastest->candidate.config != choices.front().candidate.config)
      choices.push_back(*std::move(fastest));
    return choices;
  }

  /// The configuration in the kernel's space as the problem has it now.
  Candidate candidate_of(const StoredTrial& trial) const {
    const auto stored = trial.candidate ? store_.kernel(trial.candidate->kernel) : std::nullopt;
    const Regions& regions = problem_.kernel.regions;
    if (!stored || stored->device != regions.device || stored->host != regions.host ||
        stored->macros != regions.macros)
      detail::raise<ConfigError>(
          "a plan holds configurations of the problem's own kernel",
          fmt::format("trial {} of run {} is of other code", number(trial.outcome.id), number(row_.id)),
          "`kernelsearch best --source` writes kernels that a run has written");
    const nlohmann::json json = parse_json(trial.candidate->values, "stored values");
    std::vector<Value> values;
    for (const Tunable& tunable : kernel_->space.tunables())
      values.push_back(json.contains(tunable.name) ? value_from_json(json[tunable.name]) : Value{});
    const auto config = kernel_->space.config_of(values);
    if (!config || !kernel_->space.contains(*config))
      detail::raise<ConfigError>(
          "the kernel's space has changed since the run",
          fmt::format("trial {}: {}", number(trial.outcome.id), trial.candidate->values), "tune again");
    return {kernel_, *config};
  }

  std::optional<Speedup> pairs(std::size_t s, const Choice& choice, std::vector<std::string>& notes) {
    // What an export measured, in processes of its own, is worth more than what the search happened to see.
    const std::string key = pairs_key(s, choice.candidate);
    if (const auto known = store_.find_result(key)) return known->evaluation.measurement.speedup;
    // A search's few pairs may miss what more of them show, so where they prove nothing measuring goes on.
    std::optional<Speedup> seen;
    const bool default_is_baseline = is_gpu(problem_.backend) || problem_.reference.source.empty();
    if (const ShapeMeasurement* of = measured_on(choice.trial, problem_.shapes[s]);
        of != nullptr && default_is_baseline)
      seen = of->speedup;
    if (!options_.measure || (seen && seen->interval.low > 1.0)) return seen;
    Problem one = problem_;
    for (std::size_t other = 0; other < one.shapes.size(); ++other)
      if (other != s) one.shapes[other].weight = 0.0;
    AnyEvaluator evaluator = options_.measure(one);
    require_same("device", device_identity(row_.info.device), device_identity(evaluator.device_id()));
    require_same("toolchain", row_.info.toolchain, evaluator.toolchain_id());
    Evaluation evaluation;
    evaluation.verdict = Verdict::ok;
    try {
      evaluation.measurement.speedup = evaluator.compare(choice.candidate, default_, pair_options());
    } catch (const ConfigError& error) {
      notes.push_back(fmt::format("{}: trial {} could not be compared: {}", shape_text(problem_.shapes[s]),
                                  number(choice.trial.outcome.id), error.what()));
      return seen;
    }
    if (!evaluation.measurement.speedup) return seen;
    evaluation.provenance = "interleaved pairs with the default configuration, for a plan";
    store_.put_result(key, device_identity(row_.info.device), evaluation);
    return evaluation.measurement.speedup;
  }

  void require_same(const char* what, const std::string& then, const std::string& now) const {
    if (then != now)
      detail::raise<ConfigError>(
          fmt::format("pairs cannot be measured: the {} is another one than the run had", what),
          fmt::format("{} then, {} now", then, now), "measure where the run was, or tune here");
  }

  static PairOptions pair_options() {
    // As for parents: an interval of 0.4 % from several processes, where code and buffers lie being drawn
    // anew.
    return {.when = Pairing::always,
            .min_pairs = 24,
            .max_pairs = 400,
            .precision = 0.004,
            .budget_seconds = 2.0,
            .rounds = 4};
  }

  std::string pairs_key(std::size_t s, const Candidate& candidate) const {
    std::string bytes = "kernelsearch pairs with the default 1";
    for (const std::string& part :
         {row_.info.problem_digest, device_identity(row_.info.device), row_.info.toolchain,
          problem_.shapes[s].name, candidate_digest(candidate), candidate_digest(default_)})
      bytes += "\n" + std::to_string(part.size()) + ":" + part;
    return sha256(bytes);
  }

  RunStore& store_;
  const Problem& problem_;
  const PlanExportOptions& options_;
  RunRow row_;
  std::shared_ptr<const Kernel> kernel_;
  Candidate default_;
  std::string cache_;
  StoredTrial winner_;
  std::vector<StoredTrial> trials_;
};

}  // namespace

PlanExport export_plan(RunStore& store, RunId run, const Problem& problem, const PlanExportOptions& options) {
  return Exporter(store, run, problem, options).plan();
}

PairingMaker measuring_on(const MeasurementOptions& options) {
  return [options](const Problem& problem) { return make_evaluator(problem, options); };
}

}  // namespace kernelsearch
