// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kernelsearch/core/history.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// How much of an outcome a model is told.
struct FeedbackOptions {
  std::size_t reason_bytes = 4000;  ///< of compilers' and checkers' messages
  std::size_t error_lines = 24;     ///< of a compiler, with the two lines that follow each
  std::size_t shapes = 16;
  std::size_t features = 40;
  std::size_t lineage = 8;  ///< generations
};

/// The outcome of a candidate, for a model: verdict and how far it came, the reason (errors of compilers,
/// failing indices and values) as quoted data, the time of every shape, the speedup and the features.
[[nodiscard]] std::string feedback_text(const Outcome& outcome, const FeedbackOptions& options = {});

/// The lines of a compiler's output that say what is wrong: errors with the lines they show, without
/// warnings, notes and chains of includes; the beginning where no line is an error.
[[nodiscard]] std::string compiler_errors(std::string_view output, std::size_t most_errors);

/// One line for each ancestor, the oldest first: its time or failure, and what the step gained.
[[nodiscard]] std::string lineage_text(const History<Candidate>& history, TrialId id,
                                       const FeedbackOptions& options = {});

/// What must be computed, for a model: function, arguments, shapes, tolerances, launch and build.
[[nodiscard]] std::string problem_text(const Problem& problem);

/// A kernel for a model: its regions as quoted code, its tunables and the values that it has.
[[nodiscard]] std::string kernel_text(const Candidate& candidate, std::string_view language);

/// Seconds in a unit that fits, e.g. `1.234 ms`.
[[nodiscard]] std::string time_text(double seconds);

}  // namespace kernelsearch
