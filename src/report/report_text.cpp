// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/report/render_report.hpp"
#include "run_title.hpp"
#include "xml_text.hpp"

namespace kernelsearch {
namespace {

/// A cell of a table of Markdown: on one line, and nothing in it is markup.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : clean_text(text)) {
    if (c == '\n' || c == '\r' || c == '\t')
      out += ' ';
    else if (std::string_view("|\\`*_<>[]").find(c) != std::string_view::npos)
      (out += '\\') += c;
    else
      out += c;
  }
  return out;
}

std::string table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows) {
  std::string text = "|", rule = "|";
  for (const std::string& name : header) {
    text += " " + name + " |";
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (const auto& row : rows) {
    text += "|";
    for (const std::string& one : row) text += " " + cell(one) + " |";
    text += "\n";
  }
  return text + "\n";
}

std::string share(double part) {
  return fmt::format("{:.0f} %", 100 * part);
}

/// A block of code whose fence no line of it can end.
std::string fenced(const std::string& text) {
  std::size_t longest = 2, row = 0;
  for (const char c : text) longest = std::max(longest, row = c == '`' ? row + 1 : 0);
  const std::string fence(longest + 1, '`');
  return fence + "\n" + text + (text.ends_with('\n') ? "" : "\n") + fence + "\n\n";
}

std::vector<const ReportTrial*> fastest(const ReportModel& report, std::size_t most) {
  std::vector<const ReportTrial*> right;
  for (const ReportTrial& trial : report.trials)
    if (trial.verdict == Verdict::ok) right.push_back(&trial);
  std::stable_sort(right.begin(), right.end(), [&](const ReportTrial* a, const ReportTrial* b) {
    const bool wins_a = report.winner == a->id, wins_b = report.winner == b->id;
    return wins_a != wins_b ? wins_a : a->seconds < b->seconds;
  });
  right.resize(std::min(right.size(), most));
  return right;
}

std::string settings_of(const ReportModel& report, const ReportTrial& trial) {
  std::string text;
  for (std::size_t t = 0; t < report.tunables.size(); ++t)
    if (trial.values[t] >= 0)
      text += (text.empty() ? "" : " ") + report.tunables[t].name + "=" +
              report.tunables[t].values[static_cast<std::size_t>(trial.values[t])];
  return text;
}

std::string trials_text(const ReportModel& report) {
  std::vector<std::vector<std::string>> rows;
  const std::vector<const ReportTrial*> shown = fastest(report, 10);
  const bool scored =
      std::any_of(shown.begin(), shown.end(), [](const ReportTrial* one) { return one->score.has_value(); });
  for (const ReportTrial* trial : shown) {
    rows.push_back({std::to_string(number(trial->id)), format_seconds(trial->seconds),
                    format_seconds(trial->interval.low) + " to " + format_seconds(trial->interval.high),
                    trial->speedup ? format_speedup(*trial->speedup) : ""});
    if (scored) rows.back().push_back(trial->score ? fmt::format("{:.3g}", *trial->score) : "");
    rows.back().push_back(settings_of(report, *trial));
  }
  if (rows.empty()) return {};
  std::vector<std::string> head{"trial", "time", "interval", "speedup"};
  if (scored) head.emplace_back("score S");
  head.emplace_back("settings");
  return "## Fastest trials\n\n" + table(head, rows);
}

std::string front_text(const ReportModel& report) {
  if (report.front.objectives.only_time() || report.front.trials.empty()) return {};
  std::vector<std::string> head{"trial"};
  for (const Objective& objective : report.front.objectives.rows())
    head.push_back(cell(objective.name) + " (" + report.front.words_of(objective) + ")");
  head.emplace_back("settings");
  std::vector<std::vector<std::string>> rows;
  for (const FrontTrial& trial : report.front.trials) {
    rows.push_back({std::to_string(number(trial.id))});
    for (std::size_t i = 0; i < trial.values.size(); ++i)
      rows.back().push_back(format_objective(report.front.objectives.rows()[i], trial.values[i]));
    rows.back().push_back(trial.settings);
  }
  return "## Pareto front\n\n" + table(head, rows);
}

std::string tunables_text(const ReportModel& report) {
  std::vector<const ReportTunable*> order;
  for (const ReportTunable& tunable : report.tunables)
    if (tunable.importance) order.push_back(&tunable);
  if (order.empty()) return {};
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return *a->importance > *b->importance; });
  std::vector<std::vector<std::string>> rows;
  for (const ReportTunable* tunable : order)
    rows.push_back({tunable->name, share(*tunable->importance), std::to_string(tunable->values.size())});
  return fmt::format(
             "## Tunables\n\nPermutation importance by a random forest that explains {} of the variance of "
             "the "
             "logarithm of the time at trials that it never saw.\n\n",
             share(*report.explained)) +
         table({"tunable", "importance", "values seen"}, rows);
}

std::string strategies_text(const ReportModel& report) {
  if (report.strategies.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  const auto ratio = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.2f}x", *value) : "";
  };
  for (const StrategyEffect& effect : report.strategies)
    rows.push_back({effect.name, std::to_string(effect.tries), std::to_string(effect.right),
                    std::to_string(effect.faster), ratio(effect.median), ratio(effect.best)});
  return "## Strategies\n\n" +
         table({"strategy", "tries", "right", "surely faster", "median over the parent", "best"}, rows);
}

std::string failures_text(const ReportModel& report) {
  if (report.failures.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  for (const FailureGroup& group : report.failures)
    rows.push_back({std::to_string(group.count), std::string(group.shown()),
                    std::to_string(number(group.trial)), group.reason});
  return "## Failures\n\n" + table({"trials", "verdict", "first", "reason"}, rows);
}

std::string winner_code(const ReportModel& report) {
  if (!report.winner) return {};
  for (const ReportTrial& trial : report.trials)
    if (trial.id == *report.winner)
      for (const StoredKernel& kernel : report.kernels)
        if (kernel.digest == trial.kernel)
          return fmt::format("## Code of trial {}\n\n", number(trial.id)) +
                 fenced(clean_text(kernel.macros + kernel.device + kernel.host));
  return {};
}

/// One curve of the best so far.
struct Steps {
  std::string name;
  std::vector<std::pair<double, double>> by_trial, by_time;  ///< place and the best from there on
  double trials = 1, seconds = 0;
};

Steps steps_of(const ReportModel& report) {
  Steps steps;
  steps.name = run_title(report.run);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < report.trials.size(); ++i) {
    const ReportTrial& trial = report.trials[i];
    steps.seconds = std::max(steps.seconds, trial.elapsed);
    if (trial.verdict != Verdict::ok || !(trial.seconds > 0) || !(trial.seconds < best)) continue;
    best = trial.seconds;
    steps.by_trial.emplace_back(static_cast<double>(i + 1), best);
    steps.by_time.emplace_back(trial.elapsed, best);
  }
  steps.trials = static_cast<double>(std::max<std::size_t>(report.trials.size(), 1));
  return steps;
}

constexpr const char* line_colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a67c00", "#56b4e9"};

/// One plot with its left upper corner at (`left`, 40); the height is a logarithmic time.
class StepPlot {
 public:
  StepPlot(double left, double x_high, double low, double high)
      : left_(left), x_high_(x_high), low_(low), high_(high) {}

  [[nodiscard]] std::string frame(const std::string& label, const std::string& last) const {
    std::string svg =
        fmt::format("<path class=\"axis\" fill=\"none\" stroke=\"#888\" d=\"M{0} {1}V{2}H{3}\"/>\n", left_,
                    top, bottom, left_ + width);
    for (const double part : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      const double value = std::exp(std::log(low_) + part * (std::log(high_) - std::log(low_)));
      svg += fmt::format(
          "<path stroke=\"#8884\" d=\"M{0} {1:.1f}H{2}\"/><text x=\"{3}\" y=\"{4:.1f}\" "
          "text-anchor=\"end\">{5}</text>\n",
          left_, y(value), left_ + width, left_ - 6, y(value) + 4, format_seconds(value, 3));
    }
    return svg +
           fmt::format(
               "<text x=\"{0}\" y=\"{2}\">0</text><text x=\"{1}\" y=\"{2}\" text-anchor=\"end\">{3}</text>"
               "<text x=\"{4:.1f}\" y=\"{2}\" text-anchor=\"middle\">{5}</text>\n",
               left_, left_ + width, bottom + 16, last, left_ + width / 2, label);
  }

  [[nodiscard]] std::string line(const std::vector<std::pair<double, double>>& steps, double end,
                                 std::size_t style) const {
    if (steps.empty()) return {};
    std::string path = fmt::format("M{:.1f} {:.1f}", x(steps.front().first), y(steps.front().second));
    for (std::size_t i = 1; i < steps.size(); ++i)
      path += fmt::format("H{:.1f}V{:.1f}", x(steps[i].first), y(steps[i].second));
    return fmt::format(
        "<path class=\"best\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" d=\"{}H{:.1f}\"/>\n",
        line_colours[style % std::size(line_colours)], path, x(end));
  }

  static constexpr double width = 330, top = 40, bottom = 240;

 private:
  [[nodiscard]] double x(double value) const { return left_ + width * std::clamp(value / x_high_, 0.0, 1.0); }
  [[nodiscard]] double y(double seconds) const {
    const double span = high_ > low_ ? std::log(high_ / low_) : 1;
    return bottom - (bottom - top) * std::clamp(std::log(seconds / low_) / span, 0.0, 1.0);
  }
  double left_, x_high_, low_, high_;
};

}  // namespace

std::string report_markdown(std::span<const ReportModel> reports) {
  std::string text;
  for (const ReportModel& report : reports) {
    text += "# " + cell(run_title(report.run)) + "\n\n";
    text += fenced(clean_text(report.summary));
    text += front_text(report) + trials_text(report) + tunables_text(report) + strategies_text(report) +
            failures_text(report) + winner_code(report);
  }
  return text;
}

std::string report_svg(std::span<const ReportModel> reports) {
  std::vector<Steps> all;
  double low = std::numeric_limits<double>::infinity(), high = 0, trials = 1, seconds = 0;
  for (const ReportModel& report : reports) {
    all.push_back(steps_of(report));
    trials = std::max(trials, all.back().trials);
    seconds = std::max(seconds, all.back().seconds);
    for (const auto& [at, best] : all.back().by_trial) low = std::min(low, best), high = std::max(high, best);
  }
  const double height = 270 + 18 * static_cast<double>(all.size());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 {0}\" width=\"860\" height=\"{0}\" "
      "font-family=\"sans-serif\" font-size=\"11\" role=\"img\" aria-label=\"best time so far\">\n"
      "<title>Best time so far</title>\n<rect width=\"860\" height=\"{0}\" fill=\"#fff\"/>\n"
      "<text x=\"70\" y=\"22\" font-size=\"13\" font-weight=\"bold\">Best time so far</text>\n",
      height);
  if (!(high > 0)) return svg + "<text x=\"70\" y=\"60\">no candidate was right</text>\n</svg>\n";
  if (!(high > low)) high = low * 1.01;
  const StepPlot by_trial(80, trials, low, high), by_time(510, std::max(seconds, 1e-9), low, high);
  svg += by_trial.frame("trials", fmt::format("{:.0f}", trials)) +
         by_time.frame("time", format_duration(seconds));
  for (std::size_t i = 0; i < all.size(); ++i) {
    svg += by_trial.line(all[i].by_trial, all[i].trials, i) + by_time.line(all[i].by_time, all[i].seconds, i);
    const double y = 280 + 18 * static_cast<double>(i);
    const std::string best =
        all[i].by_trial.empty() ? "none right" : format_seconds(all[i].by_trial.back().second);
    svg += fmt::format(
        "<path stroke=\"{}\" stroke-width=\"2\" d=\"M80 {:.0f}h26\"/><text x=\"114\" "
        "y=\"{:.0f}\">{}</text>\n",
        line_colours[i % std::size(line_colours)], y, y + 4, xml_text(all[i].name + ", " + best));
  }
  return svg + "</svg>\n";
}

}  // namespace kernelsearch
