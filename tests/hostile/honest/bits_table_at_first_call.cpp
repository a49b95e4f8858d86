// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A table that the first call builds and every later one uses.
// problem: bits
#include <cstdint>
#include <vector>
static const std::vector<std::uint8_t>& table() {
  static const std::vector<std::uint8_t> ones = [] {
    std::vector<std::uint8_t> t(1 << 16);
    for (std::size_t i = 1; i < t.size(); ++i) t[i] = static_cast<std::uint8_t>(t[i / 2] + i % 2);
    return t;
  }();
  return ones;
}
extern "C" void bits(int n, const std::uint32_t* x, std::uint32_t* y) {
  const auto& ones = table();
  for (int i = 0; i < n; ++i) y[i] = ones[x[i] & 0xffff] + ones[x[i] >> 16];
}
