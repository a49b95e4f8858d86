// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "../report/xml_text.hpp"
#include "kernelsearch/version.hpp"
#include "report_curves.hpp"

namespace kernelsearch {
namespace {

using Order = std::vector<const PolicyScores*>;

constexpr std::size_t spaces_beside = 7;  ///< in one table: that many columns with intervals fit on the page

/// The colours of Okabe and Ito (2008) without the yellow, which is faint on white; lighter ones on dark.
constexpr std::string_view style =
    R"(:root{color-scheme:light dark;--bg:#fff;--fg:#1a1a1a;--dim:#666;--grid:#ddd;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#a67c00;--c5:#56b4e9;--c6:#555}
@media screen and (prefers-color-scheme:dark){:root{--bg:#16181c;--fg:#e8e8e8;--dim:#a0a0a0;--grid:#363a40;
--c0:#4ba3e3;--c1:#ff8a3d;--c2:#2fc79a;--c3:#e8a0c8;--c4:#e0b030;--c5:#8fd3ff;--c6:#bbb}}
body{background:var(--bg);color:var(--fg);font:15px/1.45 system-ui,sans-serif;margin:0 auto;padding:1.5em;max-width:76em}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}h3{font-size:1em;margin-top:1.5em}p,li{max-width:60em}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;max-width:100%;margin-bottom:.8em}
th,td{padding:.2em .7em;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}
th{white-space:normal;vertical-align:bottom;overflow-wrap:anywhere}
th:first-child,td:first-child{text-align:left}td:first-child,.facts td{white-space:normal;overflow-wrap:anywhere}
.facts th,.facts td{text-align:left;vertical-align:top}caption{text-align:left;color:var(--dim);padding:.8em 0 .3em}
.ci{display:block;color:var(--dim);font-size:.85em}.best{font-weight:bold}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(22em,1fr));gap:1em}
figure{margin:0;break-inside:avoid}.all{max-width:50em}svg{width:100%;height:auto}svg text{fill:var(--fg);font-size:11px}
.grid{stroke:var(--grid);fill:none}.line{fill:none;stroke-width:2;stroke-linejoin:round}.line:hover{stroke-width:5}
.random{fill:none;stroke:var(--dim);stroke-dasharray:1 4;stroke-width:1.5;stroke-linecap:round}.band{opacity:.16}
.s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}.s4{stroke:var(--c4)}.s5{stroke:var(--c5)}.s6{stroke:var(--c6)}
.f0{fill:var(--c0)}.f1{fill:var(--c1)}.f2{fill:var(--c2)}.f3{fill:var(--c3)}.f4{fill:var(--c4)}.f5{fill:var(--c5)}.f6{fill:var(--c6)}
.d1{stroke-dasharray:7 3}.d2{stroke-dasharray:2 3}.d3{stroke-dasharray:9 3 2 3}
.key{display:inline-block;margin-right:1.2em;white-space:nowrap}.key svg{width:2.4em;height:.7em;margin-right:.4em}
@page{margin:12mm}
@media print{section{break-inside:avoid}th{font-size:7pt}body{max-width:none;padding:0;font-size:10pt}table{font-size:8pt}th,td{padding:.1em .35em}
h2{break-after:avoid}tr{break-inside:avoid}})";

std::string area_cell(const AreaScore& area, bool best, std::string_view mark = "") {
  std::string cell = fmt::format("<td{}>{:.2f}{}", best ? " class=\"best\"" : "", area.value, mark);
  if (area.interval)
    cell +=
        fmt::format(" <span class=\"ci\">[{:.2f}, {:.2f}]</span>", area.interval->low, area.interval->high);
  return cell + "</td>";
}

/// Escaped, and may be broken behind underscores.
std::string breakable(const std::string& name) {
  std::string html;
  for (const char c : html_text(name)) (html += c) += c == '_' ? "<wbr>" : "";
  return html;
}

std::string count(double evaluations) {
  return std::isinf(evaluations) ? "&#8211;" : fmt::format("{:.0f}", evaluations);
}

const PairedDifference* difference_of(const ReportContents& contents, const std::string& strategy) {
  for (const PairedDifference& difference : contents.differences.policies)
    if (difference.strategy == strategy) return &difference;
  return nullptr;
}

std::string means_table(const Order& order) {
  std::string html = "<table><caption>Means over the spaces, 95 % intervals over repeats";
  html += "</caption><tr><th>policy</th><th>spaces</th><th>repeats</th>";
  for (const std::string_view name : area_names) html += fmt::format("<th>{}</th>", name);
  html += "</tr>\n";
  for (const PolicyScores* policy : order) {
    const auto [least, most] =
        std::minmax_element(policy->spaces.begin(), policy->spaces.end(),
                            [](const SpaceScores& a, const SpaceScores& b) { return a.repeats < b.repeats; });
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td>", breakable(policy->strategy), policy->spaces.size(),
        least->repeats == most->repeats ? fmt::format("{}", least->repeats)
                                        : fmt::format("{}&#8211;{}", least->repeats, most->repeats));
    for (std::size_t h = 0; h < area_names.size(); ++h) {
      const bool best = std::none_of(order.begin(), order.end(), [&](const PolicyScores* other) {
        return other->areas[h].value > policy->areas[h].value;
      });
      html += area_cell(policy->areas[h], best);
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string speed_table(const Order& order) {
  std::string html = "<table><caption>How near to the optimum how soon, and what the policy costs";
  html += "</caption><tr><th>policy</th>";
  for (const std::uint64_t k : ratio_evaluations) html += fmt::format("<th>ratio@{}</th>", k);
  html += "<th>n5 (reached)</th><th>n1 (reached)</th><th>policy ms/eval</th></tr>\n";
  for (const PolicyScores* policy : order) {
    html += fmt::format("<tr><td>{}</td>", breakable(policy->strategy));
    for (const double ratio : policy->ratios) html += fmt::format("<td>{:.3f}</td>", ratio);
    html += fmt::format("<td>{} ({:.0f} %)</td><td>{} ({:.0f} %)</td>", count(policy->n5),
                        100 * policy->n5_reached, count(policy->n1), 100 * policy->n1_reached);
    html += policy->policy_ms_per_evaluation
                ? fmt::format("<td>{:.3f}</td>", *policy->policy_ms_per_evaluation)
                : "<td>&#8211;</td>";
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string differences_table(const ReportContents& contents, const Order& order) {
  if (contents.differences.policies.empty()) return "";
  std::string html = fmt::format(
      "<h2>Differences from {}</h2><table><caption>Mean difference of the scores of "
      "single "
      "repeats, paired by space and repeat, with its 95 % interval; p of a sign-flip permutation test, by "
      "Holm for "
      "all policies. Negative: worse.</caption><tr><th>policy</th><th>pairs</th>",
      html_text(contents.differences.against));
  for (std::size_t h = 0; h < 4; ++h) html += fmt::format("<th>{0}</th><th>p</th>", area_names[h]);
  html += "</tr>\n";
  for (const PolicyScores* policy : order) {
    const PairedDifference* difference = difference_of(contents, policy->strategy);
    if (difference == nullptr || difference->pairs == 0) continue;
    html += fmt::format("<tr><td>{}</td><td>{}</td>", breakable(policy->strategy), difference->pairs);
    for (std::size_t h = 0; h < 4; ++h) {
      const AreaDifference& area = difference->areas[h];
      html += fmt::format("<td>{:+.2f} <span class=\"ci\">[{:+.2f}, {:+.2f}]</span></td><td>{:.2g}</td>",
                          area.mean, area.interval.low, area.interval.high, area.adjusted_p);
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

/// One table for at most `spaces_beside` spaces, so that none is wider than the page.
std::string spaces_block(const Order& order, std::span<const Landscape> landscapes, std::size_t h,
                         bool last) {
  std::string html =
      fmt::format("<table><caption>{} on each space{}</caption><tr><th>policy</th>", area_names[h],
                  h == 0 ? "; in brackets the evaluations that are scored" : "");
  for (const Landscape& landscape : landscapes)
    html += fmt::format("<th>{}{}</th>", breakable(landscape.name()),
                        h == 0 ? fmt::format(" ({})", landscape.budget()) : "");
  html += last ? "<th>mean</th></tr>\n" : "</tr>\n";
  for (const PolicyScores* policy : order) {
    html += fmt::format("<tr><td>{}</td>", breakable(policy->strategy));
    for (const Landscape& landscape : landscapes) {
      const auto found = std::find_if(policy->spaces.begin(), policy->spaces.end(),
                                      [&](const SpaceScores& s) { return s.space == landscape.name(); });
      html += found == policy->spaces.end()
                  ? "<td>&#8211;</td>"
                  : area_cell(found->areas[h], false, h == 0 && found->truncated ? "*" : "");
    }
    html += last ? area_cell(policy->areas[h], false) + "</tr>\n" : "</tr>\n";
  }
  return html + "</table>\n";
}

std::string spaces_table(const ReportContents& contents, const Order& order, std::size_t h) {
  std::string html;
  for (std::size_t from = 0; from < contents.landscapes.size(); from += spaces_beside) {
    const std::size_t count = std::min(spaces_beside, contents.landscapes.size() - from);
    html += spaces_block(order, contents.landscapes.subspan(from, count), h,
                         from + count == contents.landscapes.size());
  }
  return html;
}

std::string drawn(const comparing::ReportFigure& figure) {
  return comparing::figure(figure.curves, figure.random, figure.texts);
}

std::string legend(const Order& order) {
  std::string html = "<p>";
  for (std::size_t i = 0; i < order.size(); ++i)
    html += fmt::format(
        "<span class=\"key\"><svg viewBox=\"0 0 36 10\" preserveAspectRatio=\"none\">{}</svg>{}</span>",
        comparing::line_path(i, "M0 5H36"), html_text(order[i]->strategy));
  return html +
         "<span class=\"key\"><svg viewBox=\"0 0 36 10\" preserveAspectRatio=\"none\"><path class=\"random\" "
         "fill=\"none\" stroke=\"#666\" d=\"M0 5H36\"/></svg>random search, expected</span></p>\n";
}

std::string space_section(const ReportContents& contents, const Landscape& landscape) {
  const comparing::ReportFigure by_evaluations = comparing::figure_by_evaluations(contents, landscape);
  if (by_evaluations.curves.empty()) return "";
  std::string html = fmt::format(
      "<section><h3>{}</h3><p>{} configurations, {} of them valid; random search needs about {} evaluations "
      "to come "
      "95 % of the way from the median to the optimum.</p><div class=\"pair\"><figure>\n",
      html_text(landscape.name()), landscape.size(), landscape.valid(), landscape.budget());
  html += drawn(by_evaluations) + "</figure>";
  const comparing::ReportFigure by_seconds = comparing::figure_by_seconds(contents, landscape);
  if (!by_seconds.curves.empty()) html += "<figure>\n" + drawn(by_seconds) + "</figure>";
  return html + "</div></section>\n";
}

/// How it was made: what a reader needs to repeat it.
std::string settings_table(const ReportContents& contents, const Order& order) {
  std::string html = "<h2>How it was made</h2>\n<table class=\"facts\">";
  const auto row = [&html](std::string_view what, const std::string& value) {
    html += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", what, html_text(value));
  };
  row("kernelsearch", KERNELSEARCH_VERSION);
  row("policies", std::to_string(order.size()));
  row("recorded spaces", std::to_string(contents.landscapes.size()));
  row("seed", std::to_string(contents.seed) + "; the k-th repeat on a space has the same for all policies");
  if (contents.settings) {
    const ReportSettings& s = *contents.settings;
    row("repeats", std::to_string(s.repeats) + " of each policy on each space");
    row("budget of a run", s.budget);
    row("evaluations in flight", std::to_string(s.in_flight));
    row("default configuration", s.declared_default
                                     ? "the one that the space declares"
                                     : "a random valid one for each repeat, the same for all policies");
    row("policies learned from", s.learned_from);
    row("proposals that cannot be scored", s.strict ? "end the comparison (--strict)" : "are counted");
    for (const auto& [name, source] : s.own_policies) row("policy " + html_text(name), source);
  }
  return html + "</table>\n";
}

/// What policies proposed and nobody scored.
std::string misuse_table(const Order& order) {
  std::string rows;
  for (const PolicyScores* policy : order) {
    const Misuse misuse = misuse_of(*policy);
    if (misuse.any())
      rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{} of {}</td></tr>\n",
                          breakable(policy->strategy), misuse.repeats, misuse.outside, misuse.unrecorded,
                          misuse.early, misuse.runs);
  }
  const std::string head = "<h2>Proposed and not scored</h2>\n";
  if (rows.empty())
    return head + "<p>No policy proposed a configuration again, left a space or ended early.</p>\n";
  return head +
         "<table><caption>Proposals that cost a policy nothing and gained it nothing, and runs that it ended "
         "before budget and space were used up</caption><tr><th>policy</th><th>proposed "
         "again</th><th>outside "
         "the space</th><th>not recorded</th><th>runs ended early</th></tr>\n" +
         rows + "</table>\n";
}

}  // namespace

std::string html_report(const ReportContents& contents) {
  const Order order = comparing::best_first(contents);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><title>Comparison of search policies</title>\n"
      "<style>{}</style></head><body>\n<h1>Comparison of search policies</h1>\n"
      "<p>{} policies on {} recorded spaces, seed {}, kernelsearch " KERNELSEARCH_VERSION
      ".</p>\n<p>P is the mean over evaluations of how far the best so far lies between what random search "
      "is "
      "expected to have (0) and the optimum (1); P@20 looks at the first 20 evaluations only. ratio@k is "
      "optimum / best "
      "after k evaluations, n5 and n1 the median number of evaluations to within 5 % and 1 % of the "
      "optimum.</p>\n",
      style, order.size(), contents.landscapes.size(), contents.seed);
  html += means_table(order) + speed_table(order) + differences_table(contents, order) + misuse_table(order);
  html += "<h2>Scores on each space</h2>\n";
  for (std::size_t h = 0; h < 4; ++h) html += spaces_table(contents, order, h);
  html += "<p>* the budget of the runs ended inside the scored range; what was best then is held.</p>\n";
  html += fmt::format(
      "<h2>Best so far</h2>\n<p>How far the best configuration so far is above the optimum: median over the "
      "repeats "
      "and, for the {} policies with the highest P, the band from the 25th to the 75th percentile.</p>\n",
      std::min(comparing::most_bands, order.size()));
  html += legend(order);
  if (contents.landscapes.size() > 1)
    html +=
        "<section><h3>All spaces</h3><p>Median and band over all runs on all spaces, each run counting the "
        "same; random search: the median over the spaces of what it is expected to have.</p><figure "
        "class=\"all\">\n" +
        drawn(comparing::figure_over_spaces(contents)) + "</figure></section>\n";
  for (const Landscape& landscape : contents.landscapes) html += space_section(contents, landscape);
  html += settings_table(contents, order);
  return html + "</body></html>\n";
}

}  // namespace kernelsearch
