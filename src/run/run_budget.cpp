// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run_budget.hpp"

#include <charconv>
#include <sstream>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch {

RunBudget parse_budget(const std::string& text) {
  RunBudget budget;
  if (text == "all") return budget;
  const auto wrong = [&text] {
    detail::raise<ConfigError>("cannot read the budget", text,
                               "give a number of trials (200), a time (30s, 5m, 1h), both (200,30s), or all");
  };
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    double number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    const std::string unit(end, static_cast<const char*>(part.data()) + part.size());
    if (error != std::errc{} || !(number > 0)) wrong();
    if (unit.empty()) {
      if (number != static_cast<double>(static_cast<std::uint64_t>(number))) wrong();
      budget.trials = static_cast<std::uint64_t>(number);
    } else if (unit == "ms") {
      budget.seconds = number / 1000;
    } else if (unit == "s") {
      budget.seconds = number;
    } else if (unit == "m" || unit == "min") {
      budget.seconds = number * 60;
    } else if (unit == "h") {
      budget.seconds = number * 3600;
    } else {
      wrong();
    }
  }
  if (!budget.trials && !budget.seconds) wrong();
  return budget;
}

std::string RunLimits::describe() const {
  std::string text;
  const auto add = [&text](const std::string& rule) { text += (text.empty() ? "" : " or ") + rule; };
  if (seconds) add(WallTime{*seconds}.describe());
  if (speedup) add(TargetSpeedup{*speedup}.describe());
  if (no_gain) add(NoGain{*no_gain}.describe());
  return text;
}

}  // namespace kernelsearch
