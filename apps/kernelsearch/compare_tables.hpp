// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string>

#include "kernelsearch/compare/write_scores.hpp"

namespace kernelsearch::app {

/// Means over spaces and P of each space, as `compare` prints them; best policy first.
[[nodiscard]] std::string comparison_tables(std::span<const PolicyScores> scores,
                                            const Differences& differences);

}  // namespace kernelsearch::app
