// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace kernelsearch {

/// A point of a space: for each tunable, the index of its value in `Tunable::values`.
/// Only the space that made it can turn it into values; comparing and hashing need no space.
struct Config {
  std::vector<std::uint32_t> indices;

  friend bool operator==(const Config&, const Config&) = default;
  friend auto operator<=>(const Config&, const Config&) = default;
};

}  // namespace kernelsearch

template <>
struct std::hash<kernelsearch::Config> {
  std::size_t operator()(const kernelsearch::Config& config) const noexcept {
    std::uint64_t mixed = 0xcbf29ce484222325ULL;
    for (const std::uint32_t index : config.indices) {
      mixed = (mixed ^ index) * 0x9e3779b97f4a7c15ULL;
      mixed ^= mixed >> 32;
    }
    return static_cast<std::size_t>(mixed);
  }
};
