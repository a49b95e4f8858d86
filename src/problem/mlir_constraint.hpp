// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/core/result.hpp"
#include "mlir_generic.hpp"

namespace kernelsearch::detail {

/// A value that is known once all tunables are: an expression over them.
struct MlirTerm {
  std::string text;      ///< a name, a number, or in parentheses
  bool boolean = false;  ///< else an integer
};

/// What a `transform.smt.constrain_params` asserts and yields.
struct MlirConditions {
  std::vector<std::string> asserted;
  std::vector<MlirTerm> yielded;
};

/// Translates the body of `operation` with its block's arguments standing for `operands`. Integers are exact
/// within 64 bits; division and modulo are Euclidean, as in SMT-LIB's Ints (smtlib.org, theory Ints), but a
/// divisor of 0 satisfies nothing. A fault names an operation that has no translation, with its line.
[[nodiscard]] Result<MlirConditions> try_conditions(const MlirOperation& operation,
                                                    const std::vector<MlirTerm>& operands);

}  // namespace kernelsearch::detail
