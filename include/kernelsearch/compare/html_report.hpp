// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernelsearch/compare/landscape.hpp"
#include "kernelsearch/compare/scores.hpp"
#include "kernelsearch/compare/trace.hpp"
#include "kernelsearch/compare/write_scores.hpp"

namespace kernelsearch {

/// All that the report of a comparison shows.
struct ReportContents {
  std::span<const Landscape> landscapes;
  std::span<const Trace> traces;
  std::span<const PolicyScores> scores;  ///< of those traces
  Differences differences = {};
  std::uint64_t seed = 0;
};

/// A page of HTML that needs nothing beside itself: tables of the scores, and for each space how the best so
/// far goes on by evaluations and, where traces tell, by recorded time (median over the repeats and the band
/// from the 25th to the 75th percentile). Readable in print and on dark screens, without scripts.
[[nodiscard]] std::string html_report(const ReportContents& contents);

}  // namespace kernelsearch
