// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"

namespace kernelsearch {

/// A loop of a C++ source that a comment marks for rewriting, as docs/formats/source-markers.md says:
///
///     // loop: NAME
///     for (TYPE VARIABLE = FIRST; VARIABLE < LAST; VARIABLE += STEP) BODY
///
/// with `++VARIABLE` and `VARIABLE++` for a step of 1. Lines of preprocessor directives may stand between.
struct MarkedLoop {
  std::string name;
  std::string type, variable, first, last, step;
  std::size_t marker = 0;      ///< where the marker's line begins
  std::size_t directives = 0;  ///< where the line after the marker begins
  std::size_t begin = 0;       ///< of `for`
  std::size_t body = 0;        ///< of the statement or block that is repeated
  std::size_t end = 0;         ///< one past it

  [[nodiscard]] bool contains(const MarkedLoop& other) const noexcept {
    return body <= other.marker && other.end <= end;
  }
};

/// A function that a comment marks: `// function: NAME` on the line before its definition.
struct MarkedFunction {
  std::string name;
  std::size_t parameters = 0, parameters_end = 0;  ///< between the parentheses
  std::size_t body = 0;                            ///< one past the opening brace
};

/// The marked loops in order of their markers; a marker before anything but such a loop is ignored.
[[nodiscard]] std::vector<MarkedLoop> marked_loops(std::string_view source);

/// The marked functions in order.
[[nodiscard]] std::vector<MarkedFunction> marked_functions(std::string_view source);

namespace detail {

/// Whether `identifier` occurs in the code, outside comments and literals, and not as a member.
[[nodiscard]] bool mentions(std::string_view code, std::string_view identifier);

/// The code with every such occurrence replaced.
[[nodiscard]] std::string replaced(std::string_view code, std::string_view identifier,
                                   std::string_view replacement);

/// One past the comment or literal that begins at `at`; `at` itself where none does.
[[nodiscard]] std::size_t skip_opaque(std::string_view code, std::size_t at) noexcept;

/// The position of the bracket that closes the one at `at`; npos where there is none.
[[nodiscard]] std::size_t closing(std::string_view code, std::size_t at) noexcept;

}  // namespace detail
}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/generator/impl/marked_loops_impl.hpp"
#endif
