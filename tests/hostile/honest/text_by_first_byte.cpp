// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks for the first byte with the library, then for the rest.
// problem: text
#include <cstdint>
#include <cstring>
extern "C" void text(int n, int k, const std::uint8_t* text, const std::uint8_t* word, std::int32_t* count) {
  *count = 0;
  if (k < 1 || k > n) {
    *count = k < 1 ? n + 1 : 0;
    return;
  }
  const std::uint8_t* const last = text + (n - k);
  for (const std::uint8_t* at = text; at <= last; ++at) {
    at = static_cast<const std::uint8_t*>(std::memchr(at, word[0], static_cast<std::size_t>(last - at) + 1));
    if (at == nullptr) return;
    *count += std::memcmp(at, word, static_cast<std::size_t>(k)) == 0;
  }
}
