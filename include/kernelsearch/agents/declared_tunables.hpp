// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/space/tunable.hpp"

namespace kernelsearch {

/// Tunables that a transformation adds to a kernel, and what must hold between them and others.
struct DeclaredTunables {
  std::vector<Tunable> tunables;
  std::vector<std::string> constraints;                      ///< expressions
  std::vector<std::pair<std::string, Value>> defaults = {};  ///< of any tunable of the kernel, by name

  [[nodiscard]] bool empty() const noexcept {
    return tunables.empty() && constraints.empty() && defaults.empty();
  }
};

struct DeclaredTunablesLimits {
  std::size_t tunables = 8;         ///< of one declaration
  std::size_t values = 64;          ///< of one tunable
  std::size_t constraints = 16;     ///< of one declaration
  std::size_t max_states = 200000;  ///< of the resulting space, see SpaceOptions
  bool replace = false;  ///< a tunable that there is already gets the declared values; else it is an error
};

/// Reads `{"tunables": {"TILE": [8, 16] or {"values": [...], "default": 8, "if": "..."}, ...}, "constraints":
/// ["..."]}`; values as in problem.json. `"default": {"NAME": value, ...}` sets defaults of any tunable.
/// ConfigError with `source` and the line for anything else, for names that are not upper case (they become
/// macros), and beyond the limits.
[[nodiscard]] DeclaredTunables read_declared_tunables(std::string_view json, const std::string& source,
                                                      DeclaredTunablesLimits limits = {});

/// The kernel of these regions: `base` with the tunables that lines `//@tunables {...}` of the macros region
/// declare; DeclaredTunablesLimits::replace says what becomes of one that `base` has already. So the text
/// holds the whole kernel, and one that was stored or edited as text has its space. ConfigError for a line
/// that does not read or fit.
[[nodiscard]] Kernel kernel_with_declared(const Space& base, Regions regions,
                                          DeclaredTunablesLimits limits = {});

/// What the lines of a macros region declare together.
[[nodiscard]] DeclaredTunables declarations_of(std::string_view macros, DeclaredTunablesLimits limits = {});

/// The line that declares them, with its newline; empty where there is nothing to declare.
[[nodiscard]] std::string declaration_line(const DeclaredTunables& declared);

/// The text without lines that declare tunables.
[[nodiscard]] std::string without_declarations(std::string_view macros);

/// The lines that hold what is not code of the kernel but belongs to it: `//@tunables` and `//@launch`.
[[nodiscard]] std::string declaring_lines(std::string_view macros);

/// The text without those lines.
[[nodiscard]] std::string without_declaring_lines(std::string_view macros);

}  // namespace kernelsearch
