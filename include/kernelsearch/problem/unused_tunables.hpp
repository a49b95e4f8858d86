// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/problem/lint.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// The kernel's text at a configuration, valid or not, as the preprocessor leaves it; nothing where it cannot
/// be preprocessed.
using Preprocess = std::function<std::optional<std::string>(const Config&)>;

/// How far `find_unused_tunables` looks for a use.
struct UnusedTunableOptions {
  /// Configurations of the other tunables at which a tunable's values are compared before it is said to be
  /// unused: a use may hide behind another tunable's `#if`.
  std::size_t max_bases = 40;
};

/// The tunables that a problem's build, launch and sizes name, by position: in `${NAME}` of compiler, flags
/// and kernels' names, and in expressions of extents, steps, tensor maps and sizes of arrays. `valid` and
/// constraints are no use: they say which configurations there are, not what these do.
[[nodiscard]] std::vector<bool> tunables_outside_kernel(const Problem& problem);

/// A tunable that is used nowhere, with what to say about it.
struct UnusedTunable {
  std::size_t tunable = 0;  ///< its position in the space
  LintFinding finding;      ///< a warning
};

/// The tunables that are used nowhere: the preprocessed kernel is the same for all their values, at the
/// default of the others and at configurations in which one of these differs, and nothing outside the kernel
/// names them. For a schedule of MLIR it is the text with the values written in that is compared. Without
/// `preprocess`, or where that fails at the default, a tunable is used where its name is in the kernel's
/// text outside of comments and strings.
[[nodiscard]] std::vector<UnusedTunable> find_unused_tunables(const Problem& problem,
                                                              const Preprocess& preprocess = {},
                                                              UnusedTunableOptions options = {});

}  // namespace kernelsearch
