// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/report_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "kernelsearch/core/value.hpp"
#include "kernelsearch/report/improvement.hpp"
#include "kernelsearch/report/load.hpp"
#include "kernelsearch/store/codec.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch {
namespace {

constexpr std::size_t longest_reason = 20000;

/// The distinct values of a tunable while trials are read, each with a number in the order of its coming.
struct ValuesSeen {
  std::string name;
  std::vector<Value> values;
  std::unordered_map<std::string, int> numbers;

  int number_of(Value value) {
    const auto [found, fresh] = numbers.try_emplace(to_string(value), static_cast<int>(values.size()));
    if (fresh) values.push_back(std::move(value));
    return found->second;
  }
};

bool is_number(const Value& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value) ||
         std::holds_alternative<bool>(value);
}

/// Reads trials one after another into the report.
class Reader {
 public:
  explicit Reader(ReportModel& report)
      : report_(report), times_alone_(objectives_of(report.run.info).only_time()) {}

  void add(const StoredTrial& stored) {
    const Outcome& outcome = stored.outcome;
    const Evaluation& evaluation = outcome.evaluation;
    ReportTrial trial;
    trial.id = outcome.id;
    trial.verdict = evaluation.verdict;
    trial.unanswered = evaluation.is_unanswered();
    trial.out_of_bounds = evaluation.overrun.has_value();
    if (outcome.ok()) {
      trial.seconds = times_alone_ ? outcome.objective : evaluation.measurement.seconds;
      trial.interval = evaluation.measurement.interval;
      trial.speedup = evaluation.measurement.speedup;
      trial.score = evaluation.features.find("sol.score");
    }
    trial.elapsed = stored.elapsed;
    trial.phases = evaluation.phases;
    trial.load = load_of(evaluation.features);
    trial.parents = outcome.parents;
    trial.reason = short_reason(evaluation.reason, 200);
    add_move(stored, trial);
    if (stored.candidate) {
      trial.kernel = stored.candidate->kernel;
      add_values(stored.candidate->values, trial);
    }
    report_.trials.push_back(std::move(trial));
  }

  /// The tunables with their values in order.
  void finish() {
    for (std::size_t t = 0; t < seen_.size(); ++t) {
      ValuesSeen& seen = seen_[t];
      std::vector<int> order(seen.values.size()), place(seen.values.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
      std::sort(order.begin(), order.end(), [&seen](int a, int b) {
        const Value &x = seen.values[static_cast<std::size_t>(a)],
                    &y = seen.values[static_cast<std::size_t>(b)];
        if (is_number(x) != is_number(y)) return is_number(x);
        if (is_number(x) && to_number(x) != to_number(y)) return to_number(x) < to_number(y);
        return to_string(x) < to_string(y);
      });
      ReportTunable tunable{seen.name, {}, {}};
      for (std::size_t i = 0; i < order.size(); ++i) {
        place[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
        tunable.values.push_back(to_string(seen.values[static_cast<std::size_t>(order[i])]));
      }
      for (ReportTrial& trial : report_.trials) {
        trial.values.resize(seen_.size(), -1);
        if (trial.values[t] >= 0) trial.values[t] = place[static_cast<std::size_t>(trial.values[t])];
      }
      report_.tunables.push_back(std::move(tunable));
    }
  }

 private:
  void add_move(const StoredTrial& stored, ReportTrial& trial) const {
    // A move is stored as an object, a configuration as an array.
    if (stored.point.empty() || stored.point.front() != '{') return;
    const Move move = PointCodec<Move>::decode(stored.point);
    trial.kind = to_string(move.kind);
    trial.strategies = move.strategies;
  }

  void add_values(const std::string& text, ReportTrial& trial) {
    const nlohmann::json values = parse_json(text, "stored values");
    for (const auto& [name, value] : values.items()) {
      const auto [found, fresh] = place_.try_emplace(name, seen_.size());
      if (fresh) seen_.push_back({name, {}, {}});
      trial.values.resize(seen_.size(), -1);
      trial.values[found->second] = seen_[found->second].number_of(value_from_json(value));
    }
  }

  ReportModel& report_;
  bool times_alone_;
  std::vector<ValuesSeen> seen_;
  std::unordered_map<std::string, std::size_t> place_;
};

ReportDetail detail_of(const StoredTrial& stored) {
  const Evaluation& evaluation = stored.outcome.evaluation;
  ReportDetail detail;
  detail.id = stored.outcome.id;
  detail.reason = evaluation.reason.substr(0, longest_reason);
  detail.provenance = evaluation.provenance;
  detail.rationale = stored.outcome.rationale;
  detail.shapes = evaluation.measurement.shapes;
  for (ShapeMeasurement& shape : detail.shapes) shape.samples = {};
  detail.features = evaluation.features;
  return detail;
}

/// The trials that are shown in full where there is no room for all: those that the report names, then the
/// fastest with their ancestors.
std::vector<TrialId> chosen_details(const ReportModel& report, std::size_t most) {
  std::unordered_map<std::uint64_t, const ReportTrial*> by_id;
  for (const ReportTrial& trial : report.trials) by_id.emplace(number(trial.id), &trial);
  std::set<std::uint64_t> chosen;
  const auto take = [&](TrialId id) {
    for (auto found = by_id.find(number(id)); found != by_id.end() && chosen.size() < most;) {
      if (!chosen.insert(number(id)).second || found->second->parents.empty()) return;
      id = found->second->parents.front();
      found = by_id.find(number(id));
    }
  };
  if (report.winner) take(*report.winner);
  if (report.finalists)
    for (const FinalistPair& pair : report.finalists->pairs) take(pair.candidate);
  for (const FailureGroup& group : report.failures) take(group.trial);
  std::vector<const ReportTrial*> order;
  for (const ReportTrial& trial : report.trials) order.push_back(&trial);
  std::stable_sort(order.begin(), order.end(), [](const ReportTrial* a, const ReportTrial* b) {
    const bool right_a = a->verdict == Verdict::ok, right_b = b->verdict == Verdict::ok;
    return right_a != right_b ? right_a : right_a && a->seconds < b->seconds;
  });
  for (const ReportTrial* trial : order) {
    if (chosen.size() >= most) break;
    take(trial->id);
  }
  std::vector<TrialId> ids;
  for (const std::uint64_t id : chosen) ids.push_back(TrialId{id});
  return ids;
}

/// The code of the trials, the winner's and the fastest first, as much as there is room for.
void add_kernels(const RunStore& store, std::size_t most_bytes, ReportModel& report) {
  std::vector<const ReportTrial*> order;
  for (const ReportTrial& trial : report.trials)
    if (!trial.kernel.empty()) order.push_back(&trial);
  std::stable_sort(order.begin(), order.end(), [&](const ReportTrial* a, const ReportTrial* b) {
    const auto rank = [&](const ReportTrial* trial) {
      if (report.winner && trial->id == *report.winner) return -1.0;
      return trial->verdict == Verdict::ok ? trial->seconds : std::numeric_limits<double>::infinity();
    };
    return rank(a) < rank(b);
  });
  std::unordered_set<std::string> known;
  std::size_t bytes = 0;
  for (const ReportTrial* trial : order) {
    if (!known.insert(trial->kernel).second) continue;
    auto kernel = store.kernel(trial->kernel);
    if (!kernel) continue;
    bytes += kernel->device.size() + kernel->host.size() + kernel->macros.size();
    if (bytes > most_bytes) return;
    report.kernels.push_back(*std::move(kernel));
  }
}

/// The text without what models add and drop: blanks at the ends of lines and empty lines.
std::string comparable(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    const std::size_t last = text.find_last_not_of(" \t\r", end == 0 ? 0 : end - 1);
    if (end > at && last != std::string::npos && last >= at) out += text.substr(at, last + 1 - at) + '\n';
    at = end + 1;
  }
  return out;
}

/// Which reply gave which kernel: the first trial of each kernel whose code a reply holds.
void link_exchanges(ReportModel& report) {
  std::unordered_map<std::string, const StoredKernel*> kernels;
  for (const StoredKernel& kernel : report.kernels) kernels.emplace(kernel.digest, &kernel);
  std::vector<std::pair<std::string, std::vector<TrialId>>> code;
  std::unordered_map<std::string, std::size_t> place;
  for (const ReportTrial& trial : report.trials) {
    const auto kernel = kernels.find(trial.kernel);
    if (kernel == kernels.end() || trial.kind == "root") continue;
    const auto [found, fresh] = place.try_emplace(trial.kernel, code.size());
    if (fresh) code.push_back({comparable(kernel->second->device), {}});
    code[found->second].second.push_back(trial.id);
  }
  for (ReportExchange& exchange : report.exchanges) {
    const std::string reply = comparable(exchange.reply);
    for (const auto& [text, trials] : code)
      if (!text.empty() && reply.find(text) != std::string::npos)
        exchange.trials.insert(exchange.trials.end(), trials.begin(), trials.end());
  }
}

/// What had been paid when each trial was told: an exchange counts from the first trial that its reply gave;
/// one that gave none from the first that was told after it was kept, else from the last. Money only where
/// the price of every exchange is known: less than all of it would mislead.
void add_spending(const std::vector<std::string>& told, ReportModel& report) {
  if (report.trials.empty() || report.exchanges.empty()) return;
  std::unordered_map<std::uint64_t, std::size_t> place;
  for (std::size_t i = 0; i < report.trials.size(); ++i) place.emplace(number(report.trials[i].id), i);
  const bool priced = std::all_of(report.exchanges.begin(), report.exchanges.end(),
                                  [](const ReportExchange& one) { return one.money.has_value(); });
  for (const ReportExchange& exchange : report.exchanges) {
    std::size_t at = report.trials.size() - 1;
    if (!exchange.trials.empty()) {
      for (const TrialId trial : exchange.trials) at = std::min(at, place[number(trial)]);
    } else if (!exchange.kept.empty()) {
      const auto after = std::lower_bound(told.begin(), told.end(), exchange.kept);
      at = std::min(at, static_cast<std::size_t>(after - told.begin()));
    }
    report.trials[at].tokens += exchange.input_tokens + exchange.output_tokens;
    if (priced) report.trials[at].money += *exchange.money;
  }
  for (std::size_t i = 1; i < report.trials.size(); ++i) {
    report.trials[i].tokens += report.trials[i - 1].tokens;
    report.trials[i].money += report.trials[i - 1].money;
  }
}

/// The exchanges as far as there is room; those with a kernel first. `told`: when each trial was.
void keep_exchanges(std::vector<ReportExchange> exchanges, const std::vector<std::string>& told,
                    std::size_t most_bytes, ReportModel& report) {
  report.exchanges = std::move(exchanges);
  link_exchanges(report);
  add_spending(told, report);
  std::stable_sort(report.exchanges.begin(), report.exchanges.end(), [](const auto& a, const auto& b) {
    if (a.trials.empty() != b.trials.empty()) return b.trials.empty();
    return !a.trials.empty() && number(a.trials.front()) < number(b.trials.front());
  });
  std::size_t bytes = 0;
  const auto full = std::find_if(report.exchanges.begin(), report.exchanges.end(), [&](const auto& exchange) {
    for (const auto& [speaker, text] : exchange.question) bytes += text.size();
    bytes += exchange.reply.size() + exchange.error.size();
    return bytes > most_bytes;
  });
  report.exchanges.erase(full, report.exchanges.end());
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// The parent's time divided by the trial's, where both are right.
struct Ratio {
  double value = 0;
  bool surely_faster = false;
};
std::optional<Ratio> ratio_to(const ReportTrial& parent, const ReportTrial& trial) {
  if (parent.verdict != Verdict::ok || trial.verdict != Verdict::ok || !(trial.seconds > 0)) return {};
  return Ratio{parent.seconds / trial.seconds, trial.interval.high < parent.interval.low};
}

std::vector<StrategyEffect> strategy_effects(const std::vector<ReportTrial>& trials) {
  std::unordered_map<std::uint64_t, const ReportTrial*> by_id;
  struct Tally {
    StrategyEffect effect;
    std::vector<double> ratios;
  };
  std::map<std::string, Tally> tallies;
  for (const ReportTrial& trial : trials) {
    by_id.emplace(number(trial.id), &trial);
    for (const std::string& strategy : trial.strategies) {
      Tally& tally = tallies[strategy];
      tally.effect.name = strategy;
      tally.effect.tries += is_trial(trial.verdict) && !trial.unanswered ? 1 : 0;
      tally.effect.right += trial.verdict == Verdict::ok ? 1 : 0;
      const auto parent =
          by_id.find(trial.parents.empty() ? ~std::uint64_t{0} : number(trial.parents.front()));
      if (parent == by_id.end()) continue;
      if (const auto ratio = ratio_to(*parent->second, trial)) {
        tally.ratios.push_back(ratio->value);
        tally.effect.faster += ratio->surely_faster ? 1 : 0;
      }
    }
  }
  std::vector<StrategyEffect> effects;
  for (auto& [name, tally] : tallies) {
    if (!tally.ratios.empty()) {
      tally.effect.best = *std::max_element(tally.ratios.begin(), tally.ratios.end());
      tally.effect.median = median_of(std::move(tally.ratios));
    }
    effects.push_back(std::move(tally.effect));
  }
  std::stable_sort(effects.begin(), effects.end(), [](const StrategyEffect& a, const StrategyEffect& b) {
    return a.median.value_or(0) > b.median.value_or(0);
  });
  return effects;
}

void add_inner_trials(const RunStore& store, RunId run, ReportModel& report) {
  std::unordered_map<std::uint64_t, std::size_t> counts;
  for (const StoredInnerTrial& inner : store.inner_trials(run)) ++counts[number(inner.parent)];
  for (ReportDetail& detail : report.details)
    if (const auto found = counts.find(number(detail.id)); found != counts.end())
      detail.inner_trials = found->second;
}

}  // namespace

ReportModel report_of(const RunStore& store, RunId run, ReportExtras extras, ReportLimits limits) {
  ReportModel report;
  report.run = store.run(run);
  report.summary = run_summary(store, run);
  report.no_improvement = no_improvement(store, run);
  report.totals = run_totals(store, run);
  report.finalists = store.finalists(run);
  report.front = pareto_front_of(store, run);
  report.failures = failure_reasons(store, run);
  if (const auto best = store.best_trial(run)) report.winner = best->outcome.id;
  Reader reader(report);
  const bool all = report.run.trials <= limits.details;
  std::vector<std::string> told;
  store.each_trial(run, [&](const StoredTrial& trial) {
    reader.add(trial);
    told.push_back(trial.at);
    if (all) report.details.push_back(detail_of(trial));
  });
  reader.finish();
  if (!all)
    for (const TrialId id : chosen_details(report, limits.details))
      if (const auto trial = store.trial(run, id)) report.details.push_back(detail_of(*trial));
  if (report.totals.inner_trials != 0) add_inner_trials(store, run, report);
  report.explained = set_importance(report.tunables, report.trials);
  report.strategies = strategy_effects(report.trials);
  add_kernels(store, limits.kernel_bytes, report);
  keep_exchanges(std::move(extras.exchanges), told, limits.exchange_bytes, report);
  report.peaks = std::move(extras.peaks);
  report.checkpoints = std::move(extras.checkpoints);
  report.memory = std::move(extras.memory);
  report.times = store.times(run);
  report.spans = store.spans(run, limits.spans);
  return report;
}

ReportModel report_of(const RunRow& run, std::span<const StoredTrial> trials, ReportLimits limits) {
  ReportModel report;
  report.run = run;
  Reader reader(report);
  FailureReasons reasons;
  double best = std::numeric_limits<double>::infinity();
  for (const StoredTrial& trial : trials) {
    reader.add(trial);
    report.totals.add(trial.outcome.evaluation);
    reasons.add(trial.outcome.id, trial.outcome.evaluation);
    if (trial.outcome.ok() && trial.outcome.objective < best) {
      best = trial.outcome.objective;
      report.winner = trial.outcome.id;
    }
  }
  reader.finish();
  report.failures = reasons.groups();
  const std::vector<TrialId> chosen = chosen_details(report, limits.details);
  std::unordered_set<std::uint64_t> wanted;
  for (const TrialId id : chosen) wanted.insert(number(id));
  for (const StoredTrial& trial : trials)
    if (wanted.contains(number(trial.outcome.id))) report.details.push_back(detail_of(trial));
  report.explained = set_importance(report.tunables, report.trials);
  report.strategies = strategy_effects(report.trials);
  report.summary = fmt::format("{} on {}\ntrials    {}: {}\n", run.info.problem, run.info.device,
                               trials.size(), format_verdicts(report.totals.verdicts));
  return report;
}

}  // namespace kernelsearch
