// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "kernelsearch/evaluator/evaluator.hpp"

namespace kernelsearch {

/// An evaluator made of a callable: `candidate -> Evaluation` or `candidate -> double` (seconds, all ok).
template <class Function>
class FunctionEvaluator {
 public:
  explicit FunctionEvaluator(Function function) : function_(std::move(function)) {}

  template <class Candidate>
  requires std::invocable<Function&, const Candidate&> Evaluation evaluate(const Candidate& candidate,
                                                                           const EvaluationContext&) {
    static_assert(!std::is_void_v<std::invoke_result_t<Function&, const Candidate&>>,
                  "the function of a FunctionEvaluator returns nothing: return seconds, or an Evaluation");
    if constexpr (std::convertible_to<std::invoke_result_t<Function&, const Candidate&>, double>)
      return Evaluation::succeeded(function_(candidate));
    else
      return function_(candidate);
  }

 private:
  Function function_;
};

}  // namespace kernelsearch
