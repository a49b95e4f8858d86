// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelsearch::detail {

/// What a file of Python defines in the first column of a line.
struct PythonDefinition {
  enum class Kind { function, type, value } kind = Kind::function;
  std::string name;
  bool compiled = false;  ///< by Triton: a decorator names `jit`
  std::string text;       ///< from its line on, up to the next definition
};

[[nodiscard]] std::vector<PythonDefinition> python_definitions(std::string_view text);

}  // namespace kernelsearch::detail
