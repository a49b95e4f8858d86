// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/failures.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "kernelsearch/core/impl/utf8.hpp"
#include "kernelsearch/core/is_trial.hpp"

namespace kernelsearch {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The reason without its numbers, which differ between configurations.
std::string pattern_of(const std::string& reason) {
  std::string pattern;
  for (std::size_t i = 0; i < reason.size(); ++i) {
    const bool sign = reason[i] == '-' && i + 1 < reason.size() && is_digit(reason[i + 1]) &&
                      (i == 0 || reason[i - 1] == ' ' || reason[i - 1] == '(' || reason[i - 1] == '=');
    if (sign) continue;
    if (!is_digit(reason[i])) {
      pattern += reason[i];
      continue;
    }
    // 1, 0.25, 1e-07 and 0x1f are one number each
    if (reason[i] == '0' && i + 1 < reason.size() && reason[i + 1] == 'x')
      for (++i; i + 1 < reason.size() && std::isxdigit(static_cast<unsigned char>(reason[i + 1])) != 0;) ++i;
    while (i + 1 < reason.size() &&
           (is_digit(reason[i + 1]) || reason[i + 1] == '.' || reason[i + 1] == 'x' || reason[i + 1] == 'e' ||
            ((reason[i + 1] == '-' || reason[i + 1] == '+') && reason[i] == 'e')))
      ++i;
    pattern += '#';
  }
  return pattern;
}

}  // namespace

std::string short_reason(const std::string& reason, std::size_t most) {
  std::istringstream lines(reason);
  std::string chosen;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    line = line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
    const bool names_error = line.find("error") != std::string::npos;
    if (chosen.empty() || names_error) chosen = line;
    if (names_error) break;
  }
  if (chosen.size() <= most) return chosen;
  return chosen.substr(0, detail::utf8_cut(chosen, most - 3)) + "...";
}

bool FailureReasons::add(TrialId trial, const Evaluation& evaluation) {
  if (evaluation.verdict == Verdict::ok || !is_trial(evaluation)) return false;
  // Compared before they are cut, since where that falls depends on the length of numbers.
  const std::string line = short_reason(evaluation.reason, std::string::npos);
  FailureGroup& group = groups_[{evaluation.verdict, evaluation.overrun.has_value(), pattern_of(line)}];
  if (group.count++ != 0) return false;
  group.verdict = evaluation.verdict;
  group.overrun = evaluation.overrun;
  group.reason = short_reason(line);
  group.trial = trial;
  return true;
}

std::vector<FailureGroup> FailureReasons::groups() const {
  std::vector<FailureGroup> all;
  for (const auto& [kind, group] : groups_) all.push_back(group);
  std::sort(all.begin(), all.end(), [](const FailureGroup& a, const FailureGroup& b) {
    return a.count != b.count ? a.count > b.count : number(a.trial) < number(b.trial);
  });
  return all;
}

std::vector<FailureGroup> failure_reasons(const RunStore& store, RunId run) {
  FailureReasons reasons;
  store.each_trial(
      run, [&](const StoredTrial& trial) { reasons.add(trial.outcome.id, trial.outcome.evaluation); });
  return reasons.groups();
}

}  // namespace kernelsearch
