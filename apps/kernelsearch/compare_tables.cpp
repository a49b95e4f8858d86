// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compare_tables.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernelsearch/report/format.hpp"

namespace kernelsearch::app {
namespace {

std::string area_text(const AreaScore& area) {
  if (!area.interval) return fmt::format("{:.2f}", area.value);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", area.value, area.interval->low, area.interval->high);
}

std::string count_text(double count) {
  return std::isinf(count) ? "-" : fmt::format("{:.0f}", count);
}

std::string difference_text(const PolicyScores& policy, const Differences& differences) {
  for (const PairedDifference& difference : differences.policies) {
    if (difference.strategy != policy.strategy) continue;
    if (difference.pairs == 0) return "no pairs";
    const AreaDifference& area = difference.areas.front();
    return fmt::format("{:+.2f} [{:+.2f}, {:+.2f}], p = {:.2g}", area.mean, area.interval.low,
                       area.interval.high, area.adjusted_p);
  }
  return "";
}

/// What the policies proposed and nobody scored; empty where there is none of it.
std::string misuse_table(const std::vector<const PolicyScores*>& order) {
  std::vector<std::vector<std::string>> rows;
  for (const PolicyScores* policy : order) {
    const Misuse misuse = misuse_of(*policy);
    if (!misuse.any()) continue;
    rows.push_back({policy->strategy, std::to_string(misuse.repeats), std::to_string(misuse.outside),
                    std::to_string(misuse.unrecorded), fmt::format("{} of {}", misuse.early, misuse.runs)});
  }
  if (rows.empty()) return "";
  return "\n" + format_table({"proposed, not scored", "again", "outside the space", "not recorded",
                              "runs ended early"},
                             rows);
}

const SpaceScores* find(const PolicyScores& policy, const std::string& space) {
  for (const SpaceScores& s : policy.spaces)
    if (s.space == space) return &s;
  return nullptr;
}

}  // namespace

std::string comparison_tables(std::span<const PolicyScores> scores, const Differences& differences) {
  std::vector<const PolicyScores*> order;
  for (const PolicyScores& policy : scores) order.push_back(&policy);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->areas.front().value > b->areas.front().value;
  });

  std::vector<std::string> header{"policy",   "P [95 %]", "P@20 [95 %]", "P@40 [95 %]",  "P@60 [95 %]",
                                  "ratio@20", "ratio@60", "ratio@200",   "n5 (reached)", "policy ms/eval"};
  if (!differences.against.empty()) header.push_back("P, against " + std::string(differences.against));
  std::vector<std::vector<std::string>> rows;
  bool truncated = false;
  for (const PolicyScores* policy : order) {
    std::vector<std::string> row{policy->strategy};
    const bool cut = std::any_of(policy->spaces.begin(), policy->spaces.end(),
                                 [](const SpaceScores& s) { return s.truncated; });
    truncated = truncated || cut;
    for (std::size_t h = 0; h < 4; ++h)
      row.push_back(area_text(policy->areas[h]) + (h == 0 && cut ? "*" : ""));
    for (const std::size_t k : {0, 2, 4}) row.push_back(fmt::format("{:.3f}", policy->ratios[k]));
    row.push_back(fmt::format("{} ({:.0f} %)", count_text(policy->n5), 100 * policy->n5_reached));
    row.push_back(policy->policy_ms_per_evaluation ? fmt::format("{:.3f}", *policy->policy_ms_per_evaluation)
                                                   : "-");
    if (!differences.against.empty()) row.push_back(difference_text(*policy, differences));
    rows.push_back(std::move(row));
  }
  std::string text = format_table(header, rows);

  std::vector<std::string> spaces;
  for (const PolicyScores* policy : order)
    for (const SpaceScores& s : policy->spaces)
      if (std::find(spaces.begin(), spaces.end(), s.space) == spaces.end()) spaces.push_back(s.space);
  header = {"P per space (B)"};
  for (const std::string& space : spaces)
    for (const PolicyScores* policy : order)
      if (const SpaceScores* found = find(*policy, space)) {
        header.push_back(fmt::format("{} ({})", space, found->budget));
        break;
      }
  rows.clear();
  for (const PolicyScores* policy : order) {
    std::vector<std::string> row{policy->strategy};
    for (const std::string& space : spaces) {
      const SpaceScores* found = find(*policy, space);
      row.push_back(found == nullptr
                        ? "-"
                        : fmt::format("{:.2f}{}", found->areas.front().value, found->truncated ? "*" : ""));
    }
    rows.push_back(std::move(row));
  }
  text += "\n" + format_table(header, rows);
  text += misuse_table(order);
  if (truncated) text += "* the runs' budget ended inside the scored range; what was best then is held\n";
  return text;
}

}  // namespace kernelsearch::app
