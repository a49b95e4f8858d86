// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/compare/landscape.hpp"
#include "kernelsearch/compare/trace.hpp"

namespace kernelsearch {

/// The trace as a line of JSON without its end: space, strategy, repeat, evals (keys in the order of
/// evaluation), and where known cap, wall_s (time of the policy), seconds (recorded, from the start); where
/// there are any, dropped_repeats, dropped_unknown and dropped_outside, and ended_early where it is true.
[[nodiscard]] std::string trace_to_line(const Trace& trace, const Landscape& landscape);

/// The trace on that line. Repeated evaluations and keys that the landscape of its space does not know are
/// left out and counted. ConfigError where it is not a trace, or of a space that is not among the landscapes.
[[nodiscard]] Trace trace_from_line(std::string_view line, std::span<const Landscape> landscapes);

/// All traces of a JSON Lines file, those of other spaces left out. ConfigError names the line that is wrong.
[[nodiscard]] std::vector<Trace> read_traces(const std::filesystem::path& file,
                                             std::span<const Landscape> landscapes);

}  // namespace kernelsearch
