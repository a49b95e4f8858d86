// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/run_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "kernelsearch/report/format.hpp"
#include "kernelsearch/report/summary.hpp"
#include "kernelsearch/store/json.hpp"
#include "xml_text.hpp"

namespace kernelsearch {
namespace {

constexpr std::string_view page_style =
    ":root{color-scheme:light dark}body{font:15px/1.45 system-ui,sans-serif;margin:0 "
    "auto;padding:1.5em;max-width:76em}"
    "pre{overflow-x:auto;padding:.8em;border:1px solid "
    "#8884}table{border-collapse:collapse;font-variant-numeric:"
    "tabular-nums}th,td{padding:.2em .7em;text-align:left;border-bottom:1px solid #8884;vertical-align:top}"
    "td.n{text-align:right;white-space:nowrap}tr.best{font-weight:bold}.wide{overflow-x:auto}svg{width:100%;"
    "height:auto;"
    "max-width:60em}svg text{fill:currentColor;font-size:11px}";

/// The best so far over the trials, times on a logarithmic scale.
std::string curve(const std::vector<StoredTrial>& trials) {
  std::vector<std::pair<std::size_t, double>> steps;
  double worst = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Outcome& outcome = trials[i].outcome;
    if (!outcome.ok() || !(outcome.objective > 0)) continue;
    if (steps.empty() || outcome.objective < steps.back().second) steps.emplace_back(i, outcome.objective);
    worst = std::max(worst, steps.front().second);
  }
  if (steps.empty()) return {};
  constexpr double width = 720, height = 220, margin_left = 80, margin_bottom = 30;
  const double low = std::log(steps.back().second), high = std::log(worst);
  const double span = high > low ? high - low : 1;
  const auto x = [&](std::size_t trial) {
    return margin_left + (width - margin_left - 10) * static_cast<double>(trial) /
                             static_cast<double>(std::max<std::size_t>(1, trials.size() - 1));
  };
  const auto y = [&](double seconds) {
    return 15 + (height - margin_bottom - 15) * (high - std::log(seconds)) / span;
  };
  std::string points;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i > 0) points += fmt::format(" {:.1f},{:.1f}", x(steps[i].first), y(steps[i - 1].second));
    points += fmt::format(" {:.1f},{:.1f}", x(steps[i].first), y(steps[i].second));
  }
  points += fmt::format(" {:.1f},{:.1f}", x(trials.size() - 1), y(steps.back().second));
  return fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"best time over trials\"><polyline fill=\"none\" "
      "stroke=\"#0072b2\" stroke-width=\"2\" points=\"{}\"/><text x=\"5\" y=\"{:.1f}\">{}</text><text "
      "x=\"5\" "
      "y=\"{:.1f}\">{}</text><text x=\"{}\" y=\"{}\">trial 0</text><text x=\"{}\" y=\"{}\" "
      "text-anchor=\"end\">{}</text></svg>\n",
      width, height, points, y(worst) + 4, format_seconds(worst, 3), y(steps.back().second) + 4,
      format_seconds(steps.back().second, 3), margin_left, height - 8, width - 10, height - 8,
      trials.size() - 1);
}

std::string row_of(const StoredTrial& trial, bool best) {
  const Evaluation& e = trial.outcome.evaluation;
  std::string parents;
  for (const TrialId parent : trial.outcome.parents)
    parents += (parents.empty() ? "" : ", ") + std::to_string(number(parent));
  return fmt::format(
      "<tr{}><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}</td><td "
      "class=\"n\">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
      best ? " class=\"best\"" : "", number(trial.outcome.id), to_string(e.verdict),
      trial.outcome.ok() ? format_seconds(trial.outcome.objective) : "",
      e.measurement.speedup ? format_speedup(*e.measurement.speedup) : "", parents,
      html_text(trial.candidate ? trial.candidate->values : ""), html_text(e.reason.substr(0, 2000)));
}

}  // namespace

std::string run_page(const RunStore& store, RunId run) {
  const RunRow row = store.run(run);
  const std::vector<StoredTrial> trials = store.trials(run);
  const std::optional<StoredTrial> best = store.best_trial(run);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>run {0}: "
      "{1}</title><style>{2}</style></head>"
      "<body>\n<h1>Run {0}: {1}</h1>\n<pre>{3}</pre>\n",
      number(run), html_text(row.info.problem), page_style, html_text(run_summary(store, run)));
  html += "<h2>Best so far</h2>\n" + curve(trials);
  if (best && best->candidate)
    if (const std::optional<StoredKernel> kernel = store.kernel(best->candidate->kernel))
      html += fmt::format("<h2>The best kernel, trial {}</h2>\n<pre>{}</pre>\n", number(best->outcome.id),
                          html_text(kernel->macros + kernel->device + kernel->host));
  html +=
      "<h2>Trials</h2>\n<div "
      "class=\"wide\"><table><tr><th>trial</th><th>verdict</th><th>time</th><th>speedup</th>"
      "<th>parents</th><th>settings</th><th>reason</th></tr>\n";
  for (const StoredTrial& trial : trials) html += row_of(trial, best && best->outcome.id == trial.outcome.id);
  return html + "</table></div>\n</body></html>\n";
}

}  // namespace kernelsearch
