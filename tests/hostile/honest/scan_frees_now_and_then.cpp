// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scratch memory that grows by a little in each call, and is given back in each hundredth.
// problem: scan
#include <cstdint>
#include <vector>
extern "C" void scan(int n, const std::int32_t* x, std::int32_t* y) {
  static std::vector<std::int32_t> scratch;
  static int calls = 0;
  if (++calls % 100 == 0) std::vector<std::int32_t>().swap(scratch);
  if (scratch.size() < static_cast<std::size_t>(n)) scratch.resize(static_cast<std::size_t>(n));
  scratch.resize(scratch.size() + 1024);
  std::uint32_t t = 0;
  for (int i = 0; i < n; ++i) scratch[i] = static_cast<std::int32_t>(t += static_cast<std::uint32_t>(x[i]));
  for (int i = 0; i < n; ++i) y[i] = scratch[i];
}
