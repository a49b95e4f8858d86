// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/compare/landscape.hpp"
#include "kernelsearch/compare/scores.hpp"
#include "kernelsearch/compare/trace.hpp"
#include "kernelsearch/compare/write_scores.hpp"

namespace kernelsearch {

/// How a comparison was made, in words for readers of its report.
struct ReportSettings {
  std::uint64_t repeats = 0;
  std::string budget;  ///< of each run
  std::size_t in_flight = 1;
  bool declared_default = false;
  bool strict = false;
  std::string learned_from = "nothing";
  /// Policies that are not the library's, with their command or file.
  std::vector<std::pair<std::string, std::string>> own_policies = {};
};

/// All that the report of a comparison shows.
struct ReportContents {
  std::span<const Landscape> landscapes;
  std::span<const Trace> traces;
  std::span<const PolicyScores> scores;  ///< of those traces
  Differences differences = {};
  std::uint64_t seed = 0;
  std::optional<ReportSettings> settings = {};  ///< none: the report says seed and version alone
};

/// A page of HTML that needs nothing but itself: how it was made, tables of the scores, what was proposed
/// and not scored, and how the best so far goes on by evaluations over all spaces and on each, there also by
/// recorded time where traces tell it (median over the repeats and the band from the 25th to the 75th
/// percentile). No table is wider than 1140 pixels; more spaces are more tables. Readable in print and on
/// dark screens, without scripts.
[[nodiscard]] std::string html_report(const ReportContents& contents);

}  // namespace kernelsearch
