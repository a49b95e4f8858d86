// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"

namespace kernelsearch {

/// One way to rewrite a source.
struct SourceEdit {
  std::string what;    ///< e.g. `tile loop i by 32`
  std::string source;  ///< the whole text after it
};

/// The strategies that `source_edits` knows:
///
/// | name           | edit                                                                              |
/// |----------------|-----------------------------------------------------------------------------------|
/// | `accumulators` | a sum in one variable becomes 2, 4 or 8 sums, added up at the end                 |
/// | `align`        | the pointers of a marked function are assumed to be aligned to 16, 32 or 64 bytes |
/// | `interchange`  | two marked loops, one directly inside the other, change places                    |
/// | `ivdep`        | `#pragma GCC ivdep` before an innermost marked loop                               |
/// | `restrict`     | `__restrict` on the pointers of a marked function                                 |
/// | `tile`         | a marked loop becomes two: over tiles of 8, 32, 128 or 512 steps, and inside one  |
/// | `unroll`       | the body of an innermost marked loop is repeated 2, 4 or 8 times                  |
/// | `vectorize`    | 4, 8 or 16 assignments to consecutive elements become one, in a vector type       |
[[nodiscard]] std::vector<std::string> source_strategies();

/// All the ways in which the strategy applies to the text, in the order of its loops, then of its factors;
/// none for another name. The edits are textual and assume nothing of dependences between iterations: whether
/// the result is right is for the evaluator to say.
[[nodiscard]] std::vector<SourceEdit> source_edits(std::string_view source, std::string_view strategy);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/generator/impl/source_edits_impl.hpp"
#endif
