// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kernelsearch {

/// Where a call wrote outside of its arrays: the element next to the array that is nearest.
struct Overrun {
  std::string array = {};  ///< its name; empty where the judge cannot tell which one is nearest
  /// Counted as those of the array: negative before its beginning; empty where only the array is known.
  std::optional<std::int64_t> index = {};
  std::uint64_t elements = 0;  ///< of the array; 0 where the index is empty
  friend bool operator==(const Overrun&, const Overrun&) = default;
};

}  // namespace kernelsearch
