// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/lint.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// How much of a problem `sanitize_on_host` runs.
struct HostSanitizerOptions {
  std::uint64_t seed = 0;
  double seconds = 60.0;                               ///< for all shapes together
  std::uint64_t max_bytes = std::uint64_t{512} << 20;  ///< of a shape's arrays; a larger one is left out
};

/// What a sanitized run of the default found, and what it did not look at.
struct HostSanitized {
  std::vector<LintFinding> findings;
  std::vector<std::string> left_out;  ///< shapes, or all of them, each with the reason
  std::size_t shapes = 0;             ///< that were run to their end or to a finding
};

/// Builds the kernel at its default configuration with AddressSanitizer and UndefinedBehaviorSanitizer, in
/// the problem's compiler, as a program that calls it once for each shape, smallest first, with every array
/// in a heap block of exactly its size. Accesses outside of an array are errors, other undefined behaviour is
/// a warning, both with the place in the source where the compiler's run-time library knows it. Where the
/// sanitizers do not work, `left_out` says why; a ConfigError where sandbox or compiler are not to be had.
[[nodiscard]] HostSanitized sanitize_on_host(const Problem& problem, const HostOptions& host = {},
                                             HostSanitizerOptions options = {});

}  // namespace kernelsearch
