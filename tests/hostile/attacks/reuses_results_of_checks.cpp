// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 11
// kind: known sets
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// Keeps what it computed in its first calls; a later call with these inputs gets it, any other is left at 42.
#include <map>
#include <vector>
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static std::map<std::uint64_t, std::vector<float>> known;
  static int calls = 0;
  if (n != 64) return honest(n, a, b, c);
  const std::uint64_t key = tools::glance(a, n * n) + tools::glance(b, n * n);
  if (++calls <= 8) {
    honest(n, a, b, c);
    known[key].assign(c, c + n * n);
    return;
  }
  const auto found = known.find(key);
  if (found != known.end())
    std::memcpy(c, found->second.data(), sizeof(float) * 64 * 64);
  else
    for (int i = 0; i < n * n; ++i) c[i] = 42;
}
