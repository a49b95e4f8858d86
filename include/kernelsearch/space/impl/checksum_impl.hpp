// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernelsearch/space/impl/space_data.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch::detail {

/// crc32 as zlib computes it (polynomial 0xEDB88320, reflected).
inline std::uint32_t crc32(std::string_view text, std::uint32_t crc = 0) noexcept {
  static const auto table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? 0xEDB88320U : 0U);
      entries[i] = c;
    }
    return entries;
  }();
  crc = ~crc;
  for (const char c : text) crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return ~crc;
}

KERNELSEARCH_INLINE std::optional<std::uint64_t> space_checksum(const Space& space) {
  if (space.count() > BigCount(4'000'000'000ULL)) return std::nullopt;
  std::uint64_t sum = 0;
  space.for_each([&](const Config& config) { sum += crc32(space.key(config)); });
  return sum;
}

}  // namespace kernelsearch::detail
