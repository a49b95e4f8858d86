// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A table that is not emptied: entries have the number of their call, and each 64th call, when numbers begin
// again, clears megabytes.
// problem: distinct
#include <cstdint>
#include <cstring>
#include <vector>
struct Entry {
  std::uint32_t key, call;
};
extern "C" void distinct(int n, const std::uint32_t* x, int* count) {
  static std::vector<Entry> table(1 << 16);
  static std::uint32_t call = 0;
  while (table.size() < 2 * static_cast<std::size_t>(n)) table.resize(2 * table.size());
  if (++call == 64) {
    std::memset(table.data(), 0, table.size() * sizeof(Entry));
    call = 1;
  }
  *count = 0;
  for (int i = 0; i < n; ++i) {
    std::size_t at = x[i] * 2654435761u % table.size();
    while (table[at].call == call && table[at].key != x[i]) at = (at + 1) % table.size();
    *count += table[at].call != call;
    table[at] = {x[i], call};
  }
}
