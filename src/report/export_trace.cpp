// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "export_formats.hpp"
#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch::detail {
namespace {

/// A trial with the moments between which its phases lie: they end when it was told.
struct Span {
  double from = 0, to = 0;
  Outcome outcome;
  std::string values;
};

/// The first lane that is free when the trial begins, or a new one.
std::size_t lane_of(std::vector<double>& free_from, const Span& span) {
  constexpr double touching = 1e-3;  // of what ends and what begins at the same moment, as clocks have it
  const auto lane = std::find_if(free_from.begin(), free_from.end(),
                                 [&](double free) { return free <= span.from + touching; });
  const auto number = static_cast<std::size_t>(lane - free_from.begin());
  if (lane == free_from.end()) free_from.push_back(0);
  free_from[number] = span.to;
  return number;
}

}  // namespace

void export_trace(const ExportSource& source, std::ostream& out) {
  using nlohmann::json;
  std::vector<Span> spans;
  source.each_trial([&](const StoredTrial& trial) {
    const PhaseSeconds& phases = trial.outcome.evaluation.phases;
    if (!(phases.total() > 0)) return;
    spans.push_back({std::max(0.0, trial.elapsed - phases.total()), trial.elapsed, trial.outcome,
                     trial.candidate ? trial.candidate->values : std::string()});
  });
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.from < b.from; });
  json events = json::array();
  const std::int64_t process = number(source.run.id);
  events.push_back({{"ph", "M"},
                    {"name", "process_name"},
                    {"pid", process},
                    {"args", {{"name", clean_text("kernelsearch: " + source.run.info.problem)}}}});
  std::vector<double> free_from;
  for (const Span& span : spans) {
    const std::size_t lane = lane_of(free_from, span);
    const Evaluation& evaluation = span.outcome.evaluation;
    double at = span.from;
    const auto add = [&](const std::string& name, double seconds, json arguments) {
      if (!(seconds > 0)) return;
      events.push_back({{"ph", "X"},
                        {"name", name},
                        {"pid", process},
                        {"tid", lane},
                        {"ts", at * 1e6},
                        {"dur", seconds * 1e6},
                        {"args", std::move(arguments)}});
    };
    json told{{"verdict", to_string(evaluation.verdict)}};
    if (span.outcome.ok()) told["seconds"] = span.outcome.objective;
    if (!evaluation.reason.empty()) told["reason"] = clean_text(evaluation.reason.substr(0, 2000));
    if (!span.values.empty()) told["settings"] = parse_json(span.values, "stored values");
    add("trial " + std::to_string(number(span.outcome.id)), evaluation.phases.total(), std::move(told));
    for (const auto& [name, seconds] :
         {std::pair{"build", evaluation.phases.build}, std::pair{"check", evaluation.phases.check},
          std::pair{"measure", evaluation.phases.measure}}) {
      add(name, seconds, json::object());
      at += seconds;
    }
  }
  out << json_text({{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}) << '\n';
}

}  // namespace kernelsearch::detail
