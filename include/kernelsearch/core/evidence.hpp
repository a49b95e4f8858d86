// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string_view>

namespace kernelsearch {

/// Whether something claimed of a candidate was found in its machine code.
enum class Evidence : std::uint8_t {
  verified,
  absent,
  unknown,  ///< never counts as verified
};

[[nodiscard]] constexpr std::string_view to_string(Evidence evidence) noexcept {
  constexpr std::string_view names[] = {"verified", "absent", "unknown"};
  return names[static_cast<int>(evidence)];
}

}  // namespace kernelsearch
