// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch {

/// What callers of a function rely on, without what may change freely: names of parameters, `__restrict`,
/// attributes, launch bounds, `inline`, blanks and comments.
struct FunctionSignature {
  std::string before;                   ///< template parameters, linkage, what it returns
  std::vector<std::string> parameters;  ///< types
  friend bool operator==(const FunctionSignature&, const FunctionSignature&) = default;
  [[nodiscard]] std::string text(std::string_view name) const;
};

/// The signature of the function of that name that the code defines; nothing where it defines none.
[[nodiscard]] std::optional<FunctionSignature> function_signature(std::string_view code,
                                                                  std::string_view name);

/// The text of the regions without comments and without differences in blanks, and what it declares of the
/// launch, for telling whether two kernels are the same code. Tunables are the space's to compare.
[[nodiscard]] std::string code_key(const Regions& regions);

}  // namespace kernelsearch
