// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/result.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch_loops {

/// What a loop may be told, 0 everywhere being nothing: `vectorize_width` (elements; 1: none),
/// `interleave_count` and `unroll_count` (turns; 1: none), `distribute` (1: split the loop where that lets a
/// part be vectorised). Plans are checked against it and the listing prints it, so that a search can propose
/// nothing that a plan could not say.
const kernelsearch::Space& hint_space();

/// One loop's entry in a plan.
struct LoopHints {
  std::string function;  ///< as the linker calls it
  bool by_line = false;
  unsigned number =
      0;  ///< the line that the loop begins on, else its place among the function's loops, from 0
  std::vector<std::int64_t> values;  ///< of hint_space()'s tunables, in their order
  std::string text;                  ///< as it stands in the plan

  /// The value of the tunable `name`, which must be one.
  [[nodiscard]] std::int64_t value(std::string_view name) const;
};

/// Reads entries `FUNCTION:LOOP:NAME=VALUE,NAME=VALUE`, separated by line ends or semicolons. LOOP is a
/// number from 0, or `L` and a line. `#` begins a comment. What is left out is 0.
kernelsearch::Result<std::vector<LoopHints>> try_read_plan(std::string_view text);

}  // namespace kernelsearch_loops
