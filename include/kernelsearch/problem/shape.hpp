// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/value.hpp"

namespace kernelsearch {

/// A name with its value: a variable of a shape, a tunable of a configuration.
using NamedValue = std::pair<std::string, Value>;

/// One set of sizes to be right on, and unless `weight` is 0 to be fast on.
struct Shape {
  std::string name;
  std::vector<NamedValue> variables;
  double weight = 1.0;
  /// What the problem's generator says of this shape (such as a number of non-zeros): names like variables
  /// in expressions, but neither part of the problem's identity nor stored. Empty until an evaluator asks.
  std::vector<NamedValue> generated{};
};

}  // namespace kernelsearch
