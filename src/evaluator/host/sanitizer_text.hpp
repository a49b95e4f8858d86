// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelsearch::detail {

/// What AddressSanitizer reported before it ended the program.
struct MemoryFault {
  std::string kind;  ///< its own word, e.g. `heap-buffer-overflow`
  std::optional<std::uint64_t> address;
  bool write = false;
  std::size_t bytes = 0;  ///< of the access; 0 where the report does not say
  std::string place;      ///< `file:line` in the problem's sources; empty where unknown
};

/// One line of UndefinedBehaviorSanitizer.
struct UndefinedBehaviour {
  std::string place;
  std::string what;
};

/// The report in what a program wrote to its standard error; nothing where there is none.
[[nodiscard]] std::optional<MemoryFault> read_memory_fault(const std::string& text);

/// The reports in what a program wrote to its standard error, each place once.
[[nodiscard]] std::vector<UndefinedBehaviour> read_undefined_behaviour(const std::string& text);

}  // namespace kernelsearch::detail
