// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string_view>

namespace kernelsearch {

/// A published system, or a baseline of one, that the command runs by its name.
struct SystemEntry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::string_view composition;  ///< policy, generator, evaluator
  std::string_view budget;  ///< where none is given, as `--budget` reads it: the paper's where it has one
  bool rewrites = false;    ///< it writes kernels; otherwise it searches configurations of one
  bool asks = true;         ///< it needs a language model
};

/// All of them, by name.
[[nodiscard]] std::span<const SystemEntry> system_entries() noexcept;

/// The system of that name; ConfigError with the nearest name for another one.
[[nodiscard]] const SystemEntry& find_system(std::string_view name);

}  // namespace kernelsearch
