// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/agents/problem_text.hpp"
#include "kernelsearch/core/history.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// How much of an outcome a model is told.
struct FeedbackOptions {
  std::size_t reason_bytes = 4000;  ///< of compilers' and checkers' messages
  std::size_t error_lines = 24;     ///< of a compiler, with the two lines that follow each
  std::size_t shapes = 16;
  std::size_t features = 16;  ///< of evaluators of your own, in addition to those that observed_text curates
  std::size_t lineage = 8;    ///< generations
  bool plans = true;  ///< Outcome::rationale is what a kernel set out to do, not an analysis of its parent
};

/// The outcome of a candidate, for a model: verdict and how far it came, the reason (errors of compilers,
/// failing indices and values) as quoted data, the time of every shape, the speedup with its interval, what
/// pairs against the parent say, whether the times were disturbed, and what was observed (observed_text).
/// `space`: of the kernel, to name the tunables of the best configuration where the kernel was tuned.
[[nodiscard]] std::string feedback_text(const Outcome& outcome, const FeedbackOptions& options = {},
                                        const Space* space = nullptr);

/// What came of a kernel, on one line: its time, or the verdict, how far it came and the line of the reason
/// that says most (of a compiler's output the first error, not the function around it).
[[nodiscard]] std::string came_of(const Outcome& outcome);

/// How far a failed kernel came, in a few words; empty where that is nowhere.
[[nodiscard]] std::string progress_text(Verdict verdict, double progress);

/// The lines of a compiler's output that say what is wrong: errors with the lines they show, without
/// warnings, notes and chains of includes; the beginning where no line is an error.
[[nodiscard]] std::string compiler_errors(std::string_view output, std::size_t most_errors);

/// What a kernel set out to do, quoted; empty where that is not known.
[[nodiscard]] std::string plan_text(const Outcome& outcome, const FeedbackOptions& options = {});

/// What was found when the trial was looked at before it was changed: the rationale of its newest child that
/// has one; empty where there is none.
[[nodiscard]] std::string analysis_of(const History<Candidate>& history, TrialId id);

/// One line for each ancestor, the oldest first: by which strategies it was made, its time or failure, and
/// what the step gained.
[[nodiscard]] std::string lineage_text(const History<Candidate>& history, TrialId id,
                                       const FeedbackOptions& options = {});

/// What was tried from one kernel, the most useful first, so that a prompt takes as much as it has room for.
struct TriedText {
  std::vector<std::string> lines;     ///< one for each child, the newest first: by what, and what came of it
  std::vector<std::string> failures;  ///< of failed ones the reason and what they changed, near misses first
};

/// The children of a trial. Failures of `shown_elsewhere` have a line only. Effects are those of pairs
/// against the parent where there are any; times that were measured apart say so.
[[nodiscard]] TriedText tried_text(const History<Candidate>& history, TrialId id, std::string_view language,
                                   const std::set<TrialId>& shown_elsewhere = {},
                                   const FeedbackOptions& options = {});

/// The code of a kernel as what differs from another one, region by region, whole where that is shorter.
[[nodiscard]] std::string change_text(const Candidate& child, const Candidate& parent,
                                      std::string_view language);

/// A kernel for a model: its regions as quoted code, its tunables with values, types and constraints.
/// `external`: its tunables are values that a program is given, not macros.
[[nodiscard]] std::string kernel_text(const Candidate& candidate, std::string_view language,
                                      bool external = false);

/// The tunables alone: values, types, conditions and constraints; empty where there are none.
[[nodiscard]] std::string tunables_text(const Candidate& candidate, bool external = false);

/// Seconds in a unit that fits, e.g. `1.234 ms`.
[[nodiscard]] std::string time_text(double seconds);

}  // namespace kernelsearch
