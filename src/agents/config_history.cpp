// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/config_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/agents/space_text.hpp"
#include "kernelsearch/core/shown_verdict.hpp"

namespace kernelsearch {
namespace {

constexpr std::size_t reason_length = 160;  // of a failure's reason that is shown

/// One line of printable text: reasons come from compilers and kernels, and must not look like a prompt.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (line.size() == reason_length) return clean_text(line) + "...";
    const bool plain = static_cast<unsigned char>(c) >= 32 && c != 127;
    if (plain)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  return clean_text(line);
}

double gap(double objective, double best) {
  return best > 0 ? 100 * (objective / best - 1) : 0.0;
}

}  // namespace

void ConfigHistory::tell(const Observation<Config>& observation) {
  const auto [known, fresh] = at_.try_emplace(observation.proposal, results_.size());
  if (fresh) results_.emplace_back();
  Result& result = results_[known->second];
  result.config = observation.proposal;
  result.ok = observation.outcome.ok();
  result.objective = observation.outcome.objective;
  result.verdict = observation.outcome.evaluation.verdict;
  result.reason = observation.outcome.evaluation.reason;
  result.overrun = observation.outcome.evaluation.overrun;
}

double ConfigHistory::best() const noexcept {
  double best = std::numeric_limits<double>::infinity();
  for (const Result& result : results_)
    if (result.ok) best = std::min(best, result.objective);
  return best;
}

double ConfigHistory::failed_share() const noexcept {
  if (results_.empty()) return 0.0;
  const auto failed = std::count_if(results_.begin(), results_.end(), [](const Result& r) { return !r.ok; });
  return static_cast<double>(failed) / static_cast<double>(results_.size());
}

std::vector<const ConfigHistory::Result*> ConfigHistory::ranked() const {
  std::vector<const Result*> right;
  for (const Result& result : results_)
    if (result.ok) right.push_back(&result);
  std::stable_sort(right.begin(), right.end(),
                   [](const Result* a, const Result* b) { return a->objective < b->objective; });
  return right;
}

std::string ConfigHistory::patterns_text(std::span<const Result* const> best) const {
  std::string text;
  for (std::size_t i = 0; i < space_.size(); ++i) {
    if (space_.usable(i).size() < 2) continue;
    std::map<std::uint32_t, std::size_t> counts;
    for (const Result* result : best) ++counts[result->config.indices[i]];
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto value = [&](std::uint32_t index) { return json_text(space_.tunable(i).values[index]); };
    text += fmt::format("- {}: ", space_.tunable(i).name);
    if (most->second == best.size()) {
      text += "always " + value(most->first);
    } else if (3 * most->second >= 2 * best.size()) {
      text += fmt::format("mostly {} ({} of {})", value(most->first), most->second, best.size());
    } else {
      bool first = true;
      for (const auto& [index, count] : counts) {
        text += fmt::format("{}{} x{}", first ? "" : ", ", value(index), count);
        first = false;
      }
    }
    text += '\n';
  }
  return text;
}

std::string ConfigHistory::failures_text(std::size_t most) const {
  struct Kind {
    const Result* example = nullptr;
    std::size_t count = 0;
  };
  std::vector<Kind> kinds;  // in the order in which they were first seen
  for (const Result& result : results_) {
    if (result.ok) continue;
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) {
      return kind.example->verdict == result.verdict &&
             kind.example->overrun.has_value() == result.overrun.has_value() &&
             one_line(kind.example->reason) == one_line(result.reason);
    });
    if (same == kinds.end())
      kinds.push_back({&result, 1});
    else
      ++same->count;
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const Kind& a, const Kind& b) { return a.count > b.count; });
  std::string text;
  for (std::size_t i = 0; i < std::min(most, kinds.size()); ++i) {
    const Result& result = *kinds[i].example;
    text += fmt::format(
        "- {}x {}, e.g. {}: {}\n", kinds[i].count, shown_verdict(result.verdict, result.overrun),
        config_difference(space_, result.config, space_.default_config()), one_line(result.reason));
  }
  if (kinds.size() > most) text += fmt::format("- and {} other kinds\n", kinds.size() - most);
  return text;
}

std::string ConfigHistory::table_text(std::span<const Result* const> right,
                                      const ConfigHistoryOptions& options) const {
  std::vector<std::size_t> columns;
  std::string names;
  for (std::size_t i = 0; i < space_.size(); ++i) {
    if (space_.usable(i).size() < 2) continue;
    names += (columns.empty() ? "" : ", ") + space_.tunable(i).name;
    columns.push_back(i);
  }
  std::string text = fmt::format("All measured, fastest first ({}: {}):\n", names, options.unit_name);
  std::size_t rows = 0;
  const auto row = [&](const Result& result) {
    if (rows++ >= options.table) return;
    for (const std::size_t i : columns) {
      const Value& value = space_.tunable(i).values[result.config.indices[i]];
      const auto* word = std::get_if<std::string>(&value);
      text += (i == columns.front() ? "" : ",") +
              (word != nullptr ? '"' + one_line(*word) + '"' : to_string(value));
    }
    text += result.ok ? fmt::format(": {:.4g}\n", result.objective * options.unit)
                      : fmt::format(": {}\n", shown_verdict(result.verdict, result.overrun));
  };
  for (const Result* result : right) row(*result);
  for (const Result& result : results_)
    if (!result.ok) row(result);
  if (rows > options.table) text += fmt::format("and {} more, slower or failed\n", rows - options.table);
  return text;
}

std::string ConfigHistory::text(const ConfigHistoryOptions& options) const {
  const std::vector<const Result*> right = ranked();
  const Config& base = space_.default_config();
  const auto time = [&](double objective) {
    return fmt::format("{:.4g} {}", objective * options.unit, options.unit_name);
  };
  const auto difference = [&](const Result& r) { return config_difference(space_, r.config, base); };
  std::string text = fmt::format("State: {} configurations measured, {} right, {} failed.", results_.size(),
                                 right.size(), results_.size() - right.size());
  if (!right.empty()) {
    text += fmt::format(" Best {}", time(right[0]->objective));
    if (right.size() > 1)
      text += fmt::format(", the next {:.1f} % behind", gap(right[1]->objective, right[0]->objective));
    if (const auto found = at_.find(base); found != at_.end() && results_[found->second].ok)
      text += fmt::format("; the default takes {}", time(results_[found->second].objective));
    text += ".\nAnchors (as differences from the default):\n";
    for (std::size_t i = 0; i < std::min(options.anchors, right.size()); ++i)
      text += fmt::format("{}. {} +{:.1f} %\n", i + 1, difference(*right[i]),
                          gap(right[i]->objective, right[0]->objective));
    text += "Fastest:\n";
    for (std::size_t i = 0; i < std::min(options.results, right.size()); ++i)
      text += fmt::format("- {} {}\n", time(right[i]->objective), difference(*right[i]));
  } else {
    text += '\n';
  }
  constexpr std::size_t fewest = 3;  // successes, below which a pattern is chance (Helion)
  if (right.size() >= fewest) {
    const std::span<const Result* const> best(right.data(), std::min(options.patterns, right.size()));
    text += fmt::format("What the best {} share:\n", best.size()) + patterns_text(best);
  }
  if (right.size() < results_.size()) text += "Failures:\n" + failures_text(options.failures);
  if (options.table > 0 && !results_.empty()) text += table_text(right, options);
  return text;
}

}  // namespace kernelsearch
