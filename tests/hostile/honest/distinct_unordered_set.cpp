// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A set of the library that stays, with its buckets, and grows again where it was shrunk.
// problem: distinct
#include <cstdint>
#include <unordered_set>
extern "C" void distinct(int n, const std::uint32_t* x, int* count) {
  static std::unordered_set<std::uint32_t> met;
  static int calls = 0;
  met.clear();
  if (++calls % 20 == 0) met.rehash(0);
  met.insert(x, x + n);
  *count = static_cast<int>(met.size());
}
