// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernelsearch/compare/write_scores.hpp"
#include "kernelsearch/version.hpp"

namespace kernelsearch {
namespace {

/// Text that stands for itself; `[` too, which after the end of a row would begin an option.
std::string latex_text(std::string_view text) {
  std::string latex;
  for (const char c : text) {
    switch (c) {
      case '\\':
        latex += "\\textbackslash{}";
        break;
      case '~':
        latex += "\\textasciitilde{}";
        break;
      case '^':
        latex += "\\textasciicircum{}";
        break;
      case '<':
        latex += "\\textless{}";
        break;
      case '>':
        latex += "\\textgreater{}";
        break;
      case '|':
        latex += "\\textbar{}";
        break;
      case '[':
      case ']':
        (latex += '{').append(1, c) += '}';
        break;
      case '{':
      case '}':
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
        (latex += '\\') += c;
        break;
      default:
        latex += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return latex;
}

std::string latex_area(const AreaScore& area, bool best) {
  const std::string value = fmt::format("{:.2f}", area.value);
  std::string cell = best ? "$\\mathbf{" + value + "}$" : "$" + value + "$";
  if (area.interval)
    cell += fmt::format(" {{\\footnotesize $[{:.2f}, {:.2f}]$}}", area.interval->low, area.interval->high);
  return cell;
}

std::string latex_p(double p) {
  return p < 0.001 ? "$<0.001$" : fmt::format("${:.3f}$", p);
}

}  // namespace

std::string scores_to_latex(std::span<const PolicyScores> scores, const Differences& differences) {
  constexpr std::size_t shown[] = {0, 1, 3};  // of area_names
  std::vector<const PolicyScores*> order;
  for (const PolicyScores& policy : scores) order.push_back(&policy);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->areas.front().value > b->areas.front().value;
  });
  const bool tested = !differences.against.empty();
  std::string text =
      "% kernelsearch " KERNELSEARCH_VERSION
      "; needs \\usepackage{booktabs}\n\\begin{table}\n  \\centering\n  \\caption{Mean over the "
      "recorded spaces, with 95\\,\\% intervals over the repeats. $P$: 0 as random search, 1 the "
      "optimum at once; $P@k$: in the first $k$ evaluations; $n_5$: median evaluations to within "
      "5\\,\\% of the optimum and the share of runs that got there.";
  if (tested)
    text += " $\\Delta P$: mean difference from " + latex_text(differences.against) +
            " in pairs of the same space and seed, $p$ by sign flips, after Holm.";
  text += fmt::format(
      "}}\n  \\label{{tab:policies}}\n  \\begin{{tabular}}{{lrrrrr{}}}\n    \\toprule\n    Policy",
      tested ? "rr" : "");
  for (const std::size_t h : shown) text += fmt::format(" & ${}$", area_names[h]);
  text += " & ratio@60 & $n_5$";
  text += tested ? " & $\\Delta P$ & $p$ \\\\\n" : " \\\\\n";
  text += "    \\midrule\n";
  for (const PolicyScores* policy : order) {
    text += "    " + latex_text(policy->strategy);
    for (const std::size_t h : shown) {
      const bool best = std::none_of(order.begin(), order.end(), [&](const PolicyScores* other) {
        return other->areas[h].value > policy->areas[h].value;
      });
      text += " & " + latex_area(policy->areas[h], best);
    }
    text += fmt::format(" & ${:.3f}$ & {} ({:.0f}\\,\\%)", policy->ratios[2],
                        std::isinf(policy->n5) ? "--" : fmt::format("{:.0f}", policy->n5),
                        100 * policy->n5_reached);
    if (tested) {
      const auto found =
          std::find_if(differences.policies.begin(), differences.policies.end(),
                       [&](const PairedDifference& d) { return d.strategy == policy->strategy; });
      text +=
          found == differences.policies.end() || found->pairs == 0
              ? " & -- & --"
              : fmt::format(" & ${:+.2f}$ & {}", found->areas[0].mean, latex_p(found->areas[0].adjusted_p));
    }
    text += " \\\\\n";
  }
  return text + "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n";
}

}  // namespace kernelsearch
