// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "export_formats.hpp"
#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch::detail {
namespace {

using nlohmann::json;

/// Complete events of one process on named threads, as lanes.
class Lanes {
 public:
  Lanes(std::int64_t process, const std::string& name) : process_(process) {
    label("process_name", 0, clean_text("kernelsearch: " + name));
  }

  /// The lane of that name.
  std::size_t named(const std::string& name) {
    const auto [found, fresh] = numbers_.try_emplace(name, numbers_.size());
    if (fresh) label("thread_name", found->second, clean_text(name));
    return found->second;
  }
  /// The first lane of that kind that is free when something begins, or a new one.
  std::size_t free(const std::string& kind, double from, double to) {
    constexpr double touching = 1e-3;  // of what ends and what begins at the same moment, as clocks have it
    std::vector<double>& ends = free_from_[kind];
    const auto lane =
        std::find_if(ends.begin(), ends.end(), [&](double end) { return end <= from + touching; });
    const auto number = static_cast<std::size_t>(lane - ends.begin());
    if (lane == ends.end()) ends.push_back(0);
    ends[number] = to;
    return named(kind + " " + std::to_string(number + 1));
  }
  void add(std::size_t lane, const std::string& name, double from, double seconds, json arguments) {
    if (!(seconds > 0)) return;
    events_.push_back({{"ph", "X"},
                       {"name", name},
                       {"pid", process_},
                       {"tid", lane},
                       {"ts", from * 1e6},
                       {"dur", seconds * 1e6},
                       {"args", std::move(arguments)}});
  }
  [[nodiscard]] json take() && { return std::move(events_); }

 private:
  void label(const char* what, std::size_t lane, const std::string& name) {
    events_.push_back(
        {{"ph", "M"}, {"name", what}, {"pid", process_}, {"tid", lane}, {"args", {{"name", name}}}});
  }

  std::int64_t process_;
  json events_ = json::array();
  std::unordered_map<std::string, std::size_t> numbers_;
  std::unordered_map<std::string, std::vector<double>> free_from_;
};

/// What a trial came to, for those who click its bar.
json told_of(const StoredTrial& trial) {
  const Evaluation& evaluation = trial.outcome.evaluation;
  json told{{"verdict", to_string(evaluation.verdict)}};
  if (trial.outcome.ok()) told["seconds"] = trial.outcome.evaluation.measurement.seconds;
  if (!evaluation.reason.empty()) told["reason"] = clean_text(evaluation.reason.substr(0, 2000));
  if (trial.candidate && !trial.candidate->values.empty())
    told["settings"] = parse_json(trial.candidate->values, "stored values");
  return told;
}

/// The run as it wrote it down, each bar on the lane of its place.
void add_spans(const ExportSource& source, Lanes& lanes) {
  std::unordered_map<std::uint64_t, json> told;
  source.each_trial([&](const StoredTrial& trial) { told[number(trial.outcome.id)] = told_of(trial); });
  for (const RunSpan& span : source.spans) {
    const bool waits = span.work == "wait";
    const std::size_t lane = waits || span.place.empty()
                                 ? lanes.free(waits ? "queue" : span.work, span.began, span.ended)
                                 : lanes.named(span.place);
    std::string name = span.work;
    json arguments = json::object();
    if (span.trial) {
      name += " of trial " + std::to_string(number(*span.trial));
      if (const auto of = told.find(number(*span.trial)); of != told.end()) arguments = of->second;
    }
    lanes.add(lane, clean_text(name), span.began, span.ended - span.began, std::move(arguments));
  }
}

/// A trial with the moments between which its phases lie, as far as the time when it was told says: they end
/// then.
struct TrialTimes {
  double from = 0, to = 0;
  PhaseSeconds phases;
  std::uint64_t trial = 0;
  json told;
};

void add_trials(const ExportSource& source, Lanes& lanes) {
  std::vector<TrialTimes> trials;
  source.each_trial([&](const StoredTrial& trial) {
    const PhaseSeconds& phases = trial.outcome.evaluation.phases;
    if (!(phases.total() > 0)) return;
    trials.push_back({std::max(0.0, trial.elapsed - phases.total()), trial.elapsed, phases,
                      number(trial.outcome.id), told_of(trial)});
  });
  std::stable_sort(trials.begin(), trials.end(),
                   [](const TrialTimes& a, const TrialTimes& b) { return a.from < b.from; });
  for (TrialTimes& trial : trials) {
    const std::size_t lane = lanes.free("lane", trial.from, trial.to);
    const PhaseSeconds& phases = trial.phases;
    double at = trial.from;
    lanes.add(lane, "trial " + std::to_string(trial.trial), at, phases.total(), std::move(trial.told));
    for (const auto& [name, seconds] : {std::pair{"build", phases.build}, std::pair{"check", phases.check},
                                        std::pair{"measure", phases.measure}}) {
      lanes.add(lane, name, at, seconds, json::object());
      at += seconds;
    }
  }
}

}  // namespace

void export_trace(const ExportSource& source, std::ostream& out) {
  Lanes lanes(number(source.run.id), source.run.info.problem);
  if (source.spans.empty())
    add_trials(source, lanes);
  else
    add_spans(source, lanes);
  out << json_text({{"displayTimeUnit", "ms"}, {"traceEvents", std::move(lanes).take()}}) << '\n';
}

}  // namespace kernelsearch::detail
