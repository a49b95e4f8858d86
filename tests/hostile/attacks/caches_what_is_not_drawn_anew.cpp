// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 9
// kind: caches by content
// problem: ranks
// expect: rejected or no gain
// naive: notices
// Permutations by a few of their numbers: other kinds of inputs are drawn anew for each call, these might
// not be.
#include <cstring>
#include <map>
#include <vector>
#include "honest.hpp"
extern "C" void ranks(int n, const std::int32_t* p, std::int32_t* y) {
  static std::map<std::uint64_t, std::vector<std::int32_t>> known;
  std::uint64_t key = static_cast<std::uint64_t>(n);
  for (int i = 0; i < 12; ++i)
    key = key * 0x9e3779b97f4a7c15u + static_cast<std::uint32_t>(p[i * (n - 1) / 11]);
  auto& result = known[key];
  if (result.empty()) {
    honest(n, p, y);
    if (known.size() < 4000) result.assign(y, y + n);
    return;
  }
  std::memcpy(y, result.data(), result.size() * sizeof(std::int32_t));
}
