// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A table that a constructor fills while the library is loaded.
// problem: bits
#include <cstdint>
struct Table {
  std::uint8_t ones[65536];
  Table() {
    ones[0] = 0;
    for (int i = 1; i < 65536; ++i) ones[i] = static_cast<std::uint8_t>(ones[i / 2] + i % 2);
  }
};
static const Table table;
extern "C" void bits(int n, const std::uint32_t* x, std::uint32_t* y) {
  for (int i = 0; i < n; ++i) y[i] = table.ones[x[i] & 0xffff] + table.ones[x[i] >> 16];
}
