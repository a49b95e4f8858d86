// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "kernelsearch/compare/landscape.hpp"
#include "kernelsearch/compare/trace.hpp"

namespace kernelsearch::comparing {

/// A line of a trace file and which landscape it is of: null where it is of none of them, and the trace then
/// without its evaluations.
struct ParsedTrace {
  Trace trace;
  const Landscape* space = nullptr;
};

/// Empty where the line is not JSON or lacks what every trace has.
[[nodiscard]] std::optional<ParsedTrace> parse_trace(std::string_view line,
                                                     std::span<const Landscape> landscapes);

}  // namespace kernelsearch::comparing
