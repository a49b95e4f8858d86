// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/html_report.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "../../src/compare/figure.hpp"
#include "../../src/report/xml_text.hpp"
#include "kernelsearch/compare/comparison.hpp"
#include "kernelsearch/compare/report_figures.hpp"
#include "kernelsearch/version.hpp"

#include "support/approx.hpp"
#include "support/made_up_recording.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Elements open and close in order; void ones and SVG's self-closing ones aside.
bool balanced(const std::string& html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = html.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" />", 1));
    if (tag.front() == '!' || tag.back() == '/' || name == "meta" || name == "wbr") continue;
    if (tag.front() != '/') {
      open.push_back(name);
    } else {
      if (open.empty() || "/" + open.back() != tag) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

struct Compared {
  std::vector<Recording> recordings{made_up_recording("one"), made_up_recording("two & <more>", 1.0)};
  std::vector<Landscape> landscapes = landscapes_of(recordings);
  std::vector<Contestant> contestants{registered_contestant("random"),
                                      {"<b>mine</b>", registered_contestant("iterated_local_search").make}};
  std::vector<Trace> traces = compare(recordings, landscapes, contestants, {.repeats = 4, .threads = 1});
  std::vector<PolicyScores> scores = score(landscapes, traces, {.bootstrap = 20});
  std::vector<PairedDifference> paired = paired_differences(landscapes, traces, "random");

  [[nodiscard]] std::string report() const {
    return html_report({landscapes, traces, scores, {"random", paired}, 0});
  }
};

}  // namespace

TEST_CASE("html_report: one page with two figures for each space, nothing from outside, all names escaped") {
  const Compared compared;
  const std::string html = compared.report();
  CHECK(balanced(html));
  CHECK(count(html, "<figure>") == 4);
  CHECK(count(html, "<figure class=\"all\">") == 1);
  CHECK(count(html, "class=\"band f0\"") == 5);
  CHECK(count(html, "class=\"line s1 d0\"") == 6);  // and the legend
  CHECK(count(html, "<b>") == 0);
  CHECK(count(html, "&lt;b&gt;mine&lt;/b&gt;") > 5);
  CHECK(count(html, "two &amp; &lt;more&gt;") > 3);
  for (const char* outside : {"http:", "https:", "src=", "<script", "<link", "@import", "url("})
    CHECK(count(html, outside) == 0);
  CHECK(count(html, "@media print") == 1);
  CHECK(count(html, "prefers-color-scheme:dark") == 1);
  for (const char* never : {"nan", "inf<", ">inf"}) CHECK(count(html, never) == 0);
  CHECK(count(html, fmt::format("<td>{:.2f} <span", compared.scores[0].spaces[1].areas[0].value)) >= 1);
  CHECK(count(html, fmt::format("{:.2f} <span", compared.scores[0].areas[0].value)) >= 1);
}

TEST_CASE(
    "html_report: without recorded times there is one figure for each space, without a rival no tests") {
  Compared compared;
  for (Trace& trace : compared.traces) trace.seconds.clear();
  CHECK(count(compared.report(), "<figure>") == 2);
  std::erase_if(compared.traces, [](const Trace& trace) { return trace.strategy != "random"; });
  compared.scores = score(compared.landscapes, compared.traces, {.bootstrap = 0});
  const std::string html = html_report({compared.landscapes, compared.traces, compared.scores, {}, 0});
  CHECK(balanced(html));
  CHECK(count(html, "Differences from") == 0);
}

TEST_CASE("curves: quartiles of the excess over the optimum, by evaluations and by time") {
  std::vector<LandscapePoint> points{{"a", 1.0}, {"b", 2.0}, {"c", 4.0}, {"d", INFINITY}};
  const Landscape landscape("s", points);
  const Trace first{"s", "p", 0, {2, 1, 0}, {1, 2, 3}};
  const Trace second{"s", "p", 1, {3, 2, 0}, {1, 4, 5}};
  const Trace third{"s", "p", 2, {1, 0, 2}, {2, 3, 4}};
  const auto curve = comparing::curve_by_evaluations(landscape, {&first, &second, &third}, 50);
  REQUIRE(curve.size() == 3);
  CHECK(curve[0].x == 1);
  CHECK(curve[0].low == 2.0);  // between 1 (b) and 3 (c)
  CHECK(curve[0].median == 3.0);
  CHECK(std::isinf(curve[0].high));  // towards the failure
  CHECK(curve[1].median == 1.0);
  CHECK(curve[1].high == 2.0);
  CHECK(curve[2].median == 0.0);
  const auto timed = comparing::curve_by_seconds(landscape, {&first, &second, &third}, 200);
  CHECK(timed.front().x == 1);
  CHECK(std::isinf(timed.front().median));  // at 1 s only the first has anything
  CHECK(timed.back().x == 4);
  CHECK(timed.back().median == 0.0);
  CHECK(timed.back().high == 1.5);
  const Trace untimed{"s", "p", 3, {0}};
  CHECK(comparing::curve_by_seconds(landscape, {&first, &untimed}, 10).empty());
  CHECK(comparing::curve_by_evaluations(landscape, {&untimed}, 10).size() == 1);
  const auto random = comparing::random_curve(landscape, 100, 20);
  CHECK(random.front().median == landscape.baseline(1) - 1);
  CHECK(random.back().x == 100);
}

TEST_CASE("figure: curves fall, stay inside the picture and stop at the floor") {
  const std::vector<comparing::StyledCurve> curves{
      {{"p", {{1, 0.5, 2.0, INFINITY}, {10, 0.1, 0.5, 0.9}, {100, 0.0, 0.0, 1e-9}}}, 9, true},
      {{"nothing valid", {{1, INFINITY, INFINITY, INFINITY}}}, 1, true}};
  const std::string svg = comparing::figure(curves, {}, {"t", "evaluations", false});
  CHECK(balanced(svg));
  const std::string from = " d=\"M";
  const std::size_t at = svg.find(from, svg.find("class=\"line s2 d1\""));
  REQUIRE(at != std::string::npos);
  std::string path = svg.substr(at + from.size(), svg.find('"', at + from.size()) - at - from.size());
  std::replace(path.begin(), path.end(), 'L', ' ');
  std::istringstream in(path);
  std::vector<double> places;
  for (double place = 0; in >> place;) places.push_back(place);
  REQUIRE(places.size() == 6);
  CHECK(places[0] == 56.0);
  CHECK(places[2] == approx(302.0));  // the middle of a logarithmic axis from 1 to 100
  CHECK(places[4] == 548.0);
  CHECK(places[1] < places[3]);
  CHECK(places[3] < places[5]);
  CHECK(places[5] == 278.0);
  CHECK(html_text("<&>\"'") == "&lt;&amp;&gt;&quot;&#39;");
}

namespace {

/// Least width in pixels of the widest table, at 15 px letters: what may not break counts in full.
double widest_table(const std::string& html) {
  constexpr double letter = 8.2, small_letter = 7.0, padding = 22.0, breakable_cell = 60.0;
  double widest = 0.0;
  for (std::size_t at = html.find("<table"); at != std::string::npos; at = html.find("<table", at + 1)) {
    const std::string table = html.substr(at, html.find("</table>", at) - at);
    if (table.find("class=\"facts\"") != std::string::npos) continue;  // all its cells break
    std::vector<double> columns;
    for (std::size_t row = table.find("<tr>"); row != std::string::npos; row = table.find("<tr>", row + 1)) {
      const std::string cells = table.substr(row, table.find("</tr>", row) - row);
      std::size_t column = 0;
      for (std::size_t td = cells.find("<t", 4); td != std::string::npos; td = cells.find("<t", td + 1)) {
        const std::string cell = cells.substr(td, cells.find("</t", td) - td);
        const std::size_t interval = cell.find("<span class=\"ci\">");
        const std::size_t begin = cell.find('>') + 1;
        double width = letter * static_cast<double>(cell.substr(begin, interval - begin).size());
        if (interval != std::string::npos)
          width = std::max(width, small_letter * static_cast<double>(cell.find("</span>") - interval - 17));
        if (cell.rfind("<th", 0) == 0 || column == 0) width = breakable_cell;
        if (columns.size() <= column) columns.push_back(0.0);
        columns[column] = std::max(columns[column], width + padding);
        ++column;
      }
    }
    double sum = 0.0;
    for (const double column : columns) sum += column;
    widest = std::max(widest, sum);
  }
  return widest;
}

}  // namespace

TEST_CASE("html_report: no table is wider than 1140 pixels, however many spaces there are") {
  Compared compared;
  CHECK(widest_table(compared.report()) > 500);
  std::vector<Landscape> landscapes;
  std::vector<Trace> traces;
  for (int i = 0; i < 25; ++i) {
    const std::string name = "a_space_with_a_rather_long_name_" + std::to_string(i);
    landscapes.emplace_back(Recording(made_up_recording(name, 0.1 * i)));
    for (Trace trace : compared.traces) {
      if (trace.space != "one") continue;
      trace.space = name;
      if (trace.strategy == "random") trace.strategy = std::string(80, 'x') + "_policy";
      traces.push_back(std::move(trace));
    }
  }
  const std::vector<PolicyScores> scores = score(landscapes, traces, {.bootstrap = 20});
  const std::vector<PairedDifference> paired = paired_differences(landscapes, traces, "<b>mine</b>");
  const std::string html = html_report({landscapes, traces, scores, {"<b>mine</b>", paired}, 0});
  CHECK(balanced(html));
  CHECK(widest_table(html) <= 1140);
  for (const Landscape& landscape : landscapes) {
    std::string name;
    for (const char c : landscape.name()) (name += c) += c == '_' ? "<wbr>" : "";
    CHECK(count(html, "<th>" + name) >= 1);
  }
  CHECK(count(html, "overflow-x") == 0);
  CHECK(count(html, "<th>mean</th>") == 4);
}

TEST_CASE("html_report: the page says how it was made, and what was proposed and not scored") {
  Compared compared;
  ReportContents contents{
      compared.landscapes, compared.traces, compared.scores, {"random", compared.paired}, 7};
  std::string html = html_report(contents);
  CHECK(count(html, "No policy proposed a configuration again") == 1);
  CHECK(count(html, "<tr><th>seed</th><td>7;") == 1);
  contents.settings =
      ReportSettings{4, "60 evaluations", 3, true, false, "nothing", {{"own <x>", "python3 'x & y.py'"}}};
  compared.scores[1].spaces[0].dropped_repeats = 11;
  compared.scores[1].spaces[1].dropped_unknown = 5;
  compared.scores[1].spaces[1].dropped_outside = 3;
  compared.scores[1].spaces[0].ended_early = 2;
  html = html_report(contents);
  CHECK(balanced(html));
  CHECK(count(html, "No policy proposed a configuration again") == 0);
  CHECK(count(html, "&lt;b&gt;mine&lt;/b&gt;</td><td>11</td><td>3</td><td>2</td><td>2 of 8</td>") == 1);
  CHECK(count(html, "<tr><th>kernelsearch</th><td>" KERNELSEARCH_VERSION "</td>") == 1);
  CHECK(count(html, "<td>4 of each policy on each space</td>") == 1);
  CHECK(count(html, "<td>60 evaluations</td>") == 1);
  CHECK(count(html, "<tr><th>evaluations in flight</th><td>3</td>") == 1);
  CHECK(count(html, "<td>the one that the space declares</td>") == 1);
  CHECK(count(html, "<th>policy own &lt;x&gt;</th><td>python3 &#39;x &amp; y.py&#39;</td>") == 1);
  contents.settings->declared_default = false;
  CHECK(count(html_report(contents), "a random valid one for each repeat") == 1);
}

TEST_CASE(
    "report_figures: files that stand alone, with plain names and nothing that converters to PDF lack") {
  const Compared compared;
  const auto figures =
      report_figures({compared.landscapes, compared.traces, compared.scores, {"random", compared.paired}, 0});
  REQUIRE(figures.size() == 5);
  CHECK(figures[0].name == "all_spaces.svg");
  CHECK(figures[1].name == "one.svg");
  CHECK(figures[2].name == "one_time.svg");
  CHECK(figures[3].name == "two____more_.svg");
  for (const ReportFigureFile& figure : figures) {
    const std::string& svg = figure.svg;
    CAPTURE(figure.name);
    CHECK(svg.rfind("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"",
                    0) == 0);
    CHECK(balanced(svg.substr(svg.find('\n') + 1)));
    for (const char* part :
         {"font-family=\"Helvetica, Arial, sans-serif\"", "fill=\"#fff\"", "&lt;b&gt;mine&lt;/b&gt;</text>"})
      CHECK(count(svg, part) == 1);
    for (const char* never : {"var(", "<style", "<script", "system-ui", "href", "nan", "inf"})
      CHECK(count(svg, never) == 0);
    CHECK(count(svg, "<path class=\"band") == 2);
  }
}

TEST_CASE("curves: over spaces each run counts the same") {
  const Landscape easy("easy", {{"a", 1.0}, {"b", 2.0}}), hard("hard", {{"a", 1.0}, {"b", 11.0}});
  const Trace one{"easy", "p", 0, {1, 0}}, two{"easy", "p", 1, {0, 1}}, three{"hard", "p", 0, {1, 0}};
  const auto curve = comparing::curve_over_spaces({{&easy, &one}, {&easy, &two}, {&hard, &three}}, 20);
  REQUIRE(curve.size() == 2);
  CHECK(curve[0].low == 0.5);  // of 0, 1 and 10
  CHECK(curve[0].median == 1.0);
  CHECK(curve[0].high == 5.5);
  CHECK(curve[1].high == 0.0);
  const auto random = comparing::random_over_spaces({&easy, &hard}, 2, 20);
  REQUIRE(random.size() == 2);
  CHECK(random[0].median == approx((easy.baseline(1) + hard.baseline(1)) / 2 - 1).scale(1));
}
