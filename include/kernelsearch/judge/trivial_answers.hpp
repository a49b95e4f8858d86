// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// What needs no computation and passes as one.
struct TrivialAnswer {
  std::string what;  ///< which answer passed, for which output and shape, within which tolerance
  std::string todo;  ///< what to change
};

/// What came of trying them.
struct TrivialAnswers {
  std::vector<TrivialAnswer> passed;
  std::vector<std::string> left_out;  ///< what was not tried, and why
};

/// Compares answers that no computation is needed for with what the reference gives, as a candidate's outputs
/// are compared, on each timed shape: zeros, the best constant, the mean, another call's result, an input,
/// and what the reference gives where half of an axis of an input is left out. One passes if it does on
/// several secret sets of inputs, and not because it is the right answer. Nothing is tried where the problem
/// gives a reason (`trivial_answers`). For problems of hosts and external ones, whose references run here; a
/// ConfigError where the reference fails.
[[nodiscard]] TrivialAnswers try_trivial_answers(const Problem& problem, const HostOptions& options);

/// Raises a ConfigError for the first that passed.
void refuse_trivial_answers(const Problem& problem, const TrivialAnswers& tried);

}  // namespace kernelsearch
