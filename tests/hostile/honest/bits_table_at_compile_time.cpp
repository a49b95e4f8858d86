// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A table that the compiler makes.
// problem: bits
#include <array>
#include <cstdint>
static constexpr auto ones = [] {
  std::array<std::uint8_t, 256> t{};
  for (unsigned i = 1; i < t.size(); ++i) t[i] = static_cast<std::uint8_t>(t[i / 2] + i % 2);
  return t;
}();
extern "C" void bits(int n, const std::uint32_t* x, std::uint32_t* y) {
  for (int i = 0; i < n; ++i)
    y[i] = ones[x[i] & 255] + ones[x[i] >> 8 & 255] + ones[x[i] >> 16 & 255] + ones[x[i] >> 24];
}
