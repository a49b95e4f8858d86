// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/report/task_scores.hpp"
#include "page_frame.hpp"
#include "xml_text.hpp"

namespace kernelsearch {
namespace {

using nlohmann::ordered_json;

/// A table with its heading, in no form yet.
struct Grid {
  std::string heading;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

constexpr ComparedWith all_compared[] = {ComparedWith::reference, ComparedWith::compiled,
                                         ComparedWith::baseline};

/// Those that some right answer was compared with.
std::vector<ComparedWith> compared_with(const BenchReport& report) {
  std::vector<ComparedWith> found;
  for (const ComparedWith with : all_compared) {
    const auto has = [&](const TaskScore& task) {
      const std::optional<Speedup>* pairs = with == ComparedWith::reference  ? &task.over_reference
                                            : with == ComparedWith::compiled ? &task.over_compiled
                                                                             : &task.over_baseline;
      return task.right() && pairs->has_value();
    };
    if (std::any_of(report.tasks.begin(), report.tasks.end(), has)) found.push_back(with);
  }
  return found;
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::string speedup_text(const std::optional<Speedup>& speedup) {
  return speedup ? format_speedup(*speedup) : "-";
}

Grid curve_grid(const BenchReport& report) {
  Grid grid{"Share of tasks that are right and more than p times as fast (fast_p)", {"p"}, {}};
  const std::vector<ComparedWith> compared = compared_with(report);
  for (const ComparedWith with : compared) {
    grid.header.push_back(fmt::format("than {}", to_string(with)));
    grid.header.emplace_back("95 % of such tasks");
    grid.header.emplace_back("tasks");
    grid.header.emplace_back("of them sure");
  }
  if (compared.empty()) return grid;
  for (const double p : report.curve) {
    std::vector<std::string> row{fmt::format("{:g}", p)};
    for (const ComparedWith with : compared) {
      const FastShare fast = fast_share(report.tasks, with, p);
      row.push_back(percent(fast.share));
      row.push_back(fmt::format("{} to {}", percent(fast.interval.low), percent(fast.interval.high)));
      row.push_back(fmt::format("{} of {}", fast.faster, fast.tasks));
      row.push_back(fmt::format("{}", fast.sure));
    }
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

/// The iterations that are listed: those asked for, else all, of more than twenty some that grow evenly.
std::vector<IterationScore> listed_iterations(const BenchReport& report) {
  constexpr std::size_t most = 20;
  std::vector<IterationScore> all = iteration_scores(report.tasks, report.threshold, report.iterations);
  if (!report.iterations.empty() || all.size() <= most) return all;
  std::vector<IterationScore> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return some;
}

void add_averages(std::vector<std::string>& row, const std::optional<SpeedupAverages>& one) {
  if (!one) {
    row.insert(row.end(), 5, "-");
    return;
  }
  row.push_back(percent(one->right));
  row.push_back(percent(one->faster));
  for (const double value : {one->mean, one->geometric_mean, one->best})
    row.push_back(fmt::format("{:.3g}", value));
}

Grid iteration_grid(const BenchReport& report) {
  Grid grid{"By iteration: the trial itself, and the best so far", {"iteration", "tasks"}, {}};
  for (const char* what : {"", "so far: "}) {
    grid.header.push_back(fmt::format("{}right", what));
    grid.header.push_back(fmt::format("above {:g}", report.threshold));
    for (const char* name : {"mean speedup", "geometric mean", "best"}) grid.header.emplace_back(name);
  }
  for (const IterationScore& score : listed_iterations(report)) {
    std::vector<std::string> row{fmt::format("{}", score.iteration),
                                 fmt::format("{}", score.each ? score.each->tasks : 0)};
    add_averages(row, score.each);
    add_averages(row, score.so_far);
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

Grid task_grid(const BenchReport& report) {
  Grid grid{"Tasks", {"task", "result"}, {}};
  const std::vector<ComparedWith> compared = compared_with(report);
  const auto has = [&](ComparedWith with) {
    return std::find(compared.begin(), compared.end(), with) != compared.end();
  };
  for (const ComparedWith with : compared) grid.header.push_back(fmt::format("over {}", to_string(with)));
  const bool theirs = std::any_of(report.tasks.begin(), report.tasks.end(),
                                  [](const TaskScore& task) { return !task.theirs.empty(); });
  if (theirs) grid.header.emplace_back("the other harness");
  grid.header.insert(grid.header.end(), {"run", "seconds", "MiB", "why"});
  for (const TaskScore& task : report.tasks) {
    std::vector<std::string> row{task.task, task.state};
    if (has(ComparedWith::reference)) row.push_back(speedup_text(task.over_reference));
    if (has(ComparedWith::compiled)) row.push_back(speedup_text(task.over_compiled));
    if (has(ComparedWith::baseline)) row.push_back(speedup_text(task.over_baseline));
    if (theirs) row.push_back(task.theirs.empty() ? "-" : task.theirs);
    row.push_back(task.run ? fmt::format("{}", number(*task.run)) : "-");
    row.push_back(task.run ? fmt::format("{:.1f}", task.seconds) : "-");
    row.push_back(task.memory_mib > 0 ? fmt::format("{:.0f}", task.memory_mib) : "-");
    row.push_back(task.reason);
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

std::string counts(const BenchReport& report) {
  std::string text = fmt::format("{} tasks", report.tasks.size());
  for (const char* state : {"right", "wrong", "refused", "failed", "unfinished", "not run"}) {
    const auto n = std::count_if(report.tasks.begin(), report.tasks.end(),
                                 [&](const TaskScore& task) { return task.state == state; });
    if (n > 0) text += fmt::format(", {} {}", n, state);
  }
  std::size_t both = 0, same = 0;
  for (const TaskScore& task : report.tasks)
    if (task.their_right) {
      ++both;
      same += *task.their_right == task.right() ? 1 : 0;
    }
  if (both > 0) text += fmt::format("; the other harness agrees in {} of {}", same, both);
  return text;
}

std::vector<Grid> grids_of(const BenchReport& report) {
  std::vector<Grid> grids;
  for (Grid& grid : std::vector<Grid>{curve_grid(report), iteration_grid(report), task_grid(report)})
    if (!grid.rows.empty()) grids.push_back(std::move(grid));
  return grids;
}

/// A cell of a table in Markdown: it may not end the cell or the line.
std::string cell_text(std::string text) {
  std::string clean;
  for (const char c : text)
    clean += c == '|' ? std::string("\\|") : c == '\n' ? std::string(" ") : std::string(1, c);
  return clean;
}

ordered_json json_of(const std::optional<Speedup>& speedup) {
  if (!speedup) return nullptr;
  return {{"ratio", speedup->ratio},
          {"low", speedup->interval.low},
          {"high", speedup->interval.high},
          {"pairs", speedup->pairs}};
}

ordered_json json_of(const SpeedupAverages& one) {
  return {{"tasks", one.tasks},
          {"right", one.right},
          {"faster", one.faster},
          {"mean", one.mean},
          {"geometric_mean", one.geometric_mean},
          {"best", one.best}};
}

ordered_json json_of(const TaskScore& task) {
  ordered_json one{
      {"task", clean_text(task.task)}, {"state", task.state}, {"reason", clean_text(task.reason)}};
  one["run"] = task.run ? ordered_json(number(*task.run)) : ordered_json(nullptr);
  one["over_reference"] = json_of(task.over_reference);
  one["over_compiled"] = json_of(task.over_compiled);
  one["over_baseline"] = json_of(task.over_baseline);
  one["first_iteration"] = task.first;
  one["speedups"] = task.each;
  one["seconds"] = task.seconds;
  one["memory_mib"] = task.memory_mib;
  if (task.theirs.empty()) return one;
  one["other_harness"] = {{"text", clean_text(task.theirs)}};
  if (task.their_right) one["other_harness"]["right"] = *task.their_right;
  if (task.their_speedup) one["other_harness"]["speedup"] = *task.their_speedup;
  return one;
}

/// fast_p over a logarithmic p as steps, with the band of the intervals.
std::string curve_picture(const BenchReport& report) {
  constexpr double left = 46, top = 12, width = 640, height = 240, least = 0.25;
  const std::vector<ComparedWith> compared = compared_with(report);
  if (compared.empty()) return "";
  double most = 4;
  for (const TaskScore& task : report.tasks)
    for (const auto* pairs : {&task.over_reference, &task.over_compiled, &task.over_baseline})
      if (*pairs && std::isfinite((*pairs)->ratio)) most = std::max(most, (*pairs)->ratio * 1.1);
  most = std::min(most, 1000.0);
  const auto x = [&](double p) { return left + width * std::log(p / least) / std::log(most / least); };
  const auto y = [&](double share) { return top + height * (1 - share); };
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {} {}\" width=\"{}\" role=\"img\"><title>Share of tasks that are right and more "
      "than p times as fast</title>\n",
      left + width + 12, top + height + 40, left + width + 12);
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0})
    svg += fmt::format(
        "<path d=\"M{0:.1f} {1:.1f}H{2:.1f}\" stroke=\"#8886\"/><text x=\"{3:.1f}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\" font-size=\"11\" fill=\"currentColor\">{5:.0f} %</text>\n",
        left, y(share), left + width, left - 4, y(share) + 4, 100 * share);
  for (const double p : {0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1000.0})
    if (p <= most)
      svg += fmt::format(
          "<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\" stroke=\"#8886\"/><text x=\"{0:.1f}\" y=\"{3:.1f}\" "
          "text-anchor=\"middle\" font-size=\"11\" fill=\"currentColor\">{4:g}</text>\n",
          x(p), top, top + height, top + height + 15, p);
  constexpr const char* colours[] = {"#1f77b4", "#d95f02", "#2ca02c"};
  constexpr int steps = 160;
  for (std::size_t i = 0; i < compared.size(); ++i) {
    std::string line, above, below;
    for (int step = 0; step <= steps; ++step) {
      const double p = least * std::pow(most / least, static_cast<double>(step) / steps);
      const FastShare fast = fast_share(report.tasks, compared[i], p);
      line += fmt::format("{}{:.1f} {:.1f}", step == 0 ? 'M' : 'L', x(p), y(fast.share));
      above += fmt::format("{}{:.1f} {:.1f}", step == 0 ? 'M' : 'L', x(p), y(fast.interval.high));
      below = fmt::format("L{:.1f} {:.1f}", x(p), y(fast.interval.low)) + below;
    }
    svg += fmt::format(
        "<path d=\"{0}{1}Z\" fill=\"{2}\" opacity=\"0.15\"/><path d=\"{3}\" fill=\"none\" stroke=\"{2}\" "
        "stroke-width=\"2\"/><text x=\"{4:.1f}\" y=\"{5:.1f}\" font-size=\"12\" fill=\"{2}\">over "
        "{6}</text>\n",
        above, below, colours[i], line, left + 8 + 160 * static_cast<double>(i), top + height + 33,
        html_text(to_string(compared[i])));
  }
  return svg + "</svg>\n";
}

std::string html_of(const Grid& grid) {
  std::string text = "<h2>" + html_text(grid.heading) + "</h2>\n<table><thead><tr>";
  for (const std::string& cell : grid.header) text += "<th>" + html_text(cell) + "</th>";
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : grid.rows) {
    text += "<tr>";
    for (const std::string& cell : row) text += "<td>" + html_text(clean_text(cell)) + "</td>";
    text += "</tr>\n";
  }
  return text + "</tbody></table>\n";
}

}  // namespace

std::string bench_text(const BenchReport& report) {
  std::string text = clean_text(report.title) + ": " + counts(report) + "\n";
  for (const Grid& grid : grids_of(report))
    text += "\n" + grid.heading + "\n" + format_table(grid.header, grid.rows);
  return text;
}

std::string bench_markdown(const BenchReport& report) {
  std::string text = "# " + clean_text(report.title) + "\n\n" + counts(report) + ".\n";
  for (const Grid& grid : grids_of(report)) {
    text += "\n## " + grid.heading + "\n\n|";
    for (const std::string& cell : grid.header) text += " " + cell_text(cell) + " |";
    text += "\n|";
    for (std::size_t i = 0; i < grid.header.size(); ++i) text += "---|";
    for (const auto& row : grid.rows) {
      text += "\n|";
      for (const std::string& cell : row) text += " " + cell_text(clean_text(cell)) + " |";
    }
    text += "\n";
  }
  return text;
}

std::string bench_json(const BenchReport& report) {
  ordered_json all{{"title", clean_text(report.title)}, {"counts", counts(report)}};
  ordered_json curves = ordered_json::object();
  for (const ComparedWith with : compared_with(report)) {
    ordered_json curve = ordered_json::array();
    for (const double p : report.curve) {
      const FastShare fast = fast_share(report.tasks, with, p);
      curve.push_back({{"p", p},
                       {"share", fast.share},
                       {"low", fast.interval.low},
                       {"high", fast.interval.high},
                       {"tasks", fast.tasks},
                       {"faster", fast.faster},
                       {"sure", fast.sure}});
    }
    curves[std::string(to_string(with))] = std::move(curve);
  }
  all["fast_p"] = std::move(curves);
  all["threshold"] = report.threshold;
  ordered_json iterations = ordered_json::array();
  for (const IterationScore& score : iteration_scores(report.tasks, report.threshold, report.iterations)) {
    ordered_json one{{"iteration", score.iteration}};
    one["each"] = score.each ? json_of(*score.each) : ordered_json(nullptr);
    one["so_far"] = json_of(score.so_far);
    iterations.push_back(std::move(one));
  }
  all["iterations"] = std::move(iterations);
  ordered_json tasks = ordered_json::array();
  for (const TaskScore& task : report.tasks) tasks.push_back(json_of(task));
  all["tasks"] = std::move(tasks);
  return all.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string bench_html(const BenchReport& report) {
  const std::string title = clean_text(report.title);
  std::string body =
      "<main id=\"page\"><h1>" + html_text(title) + "</h1>\n<p>" + html_text(counts(report)) + ".</p>\n";
  body += curve_picture(report);
  for (const Grid& grid : grids_of(report)) body += html_of(grid);
  return detail::page_without_script(title + " - kernelsearch", body + "</main>\n");
}

}  // namespace kernelsearch
