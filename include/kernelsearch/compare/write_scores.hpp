// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kernelsearch/compare/paired_test.hpp"
#include "kernelsearch/compare/scores.hpp"

namespace kernelsearch {

/// The differences of a comparison and whom they are from.
struct Differences {
  std::string_view against;
  std::span<const PairedDifference> policies;
};

/// Scores as JSON: `{policy: {"summary": {"dev": {...}}, "spaces": {space: {...}}, "paired": {...}}}`, the
/// layout and names of the reference scorer, whose one group of spaces is `dev`. What was not reached is the
/// string "inf".
[[nodiscard]] std::string scores_to_json(std::span<const PolicyScores> scores,
                                         const Differences& differences = {});

/// The means of the scores as a table of LaTeX (packages: booktabs), a float with caption and label; names
/// are escaped.
[[nodiscard]] std::string scores_to_latex(std::span<const PolicyScores> scores,
                                          const Differences& differences = {});

/// Scores as CSV with a header: a row for each policy and space, and one with the space `mean`.
[[nodiscard]] std::string scores_to_csv(std::span<const PolicyScores> scores);

}  // namespace kernelsearch
