// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/core/ids.hpp"
#include "kernelsearch/evaluator/evaluation_context.hpp"

namespace kernelsearch {

/// A candidate to be evaluated, as `Optimizer::ask` hands it out.
template <class Candidate>
struct Job {
  TrialId id{};
  Candidate candidate;
  EvaluationContext context;
};

}  // namespace kernelsearch
