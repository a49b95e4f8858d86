// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 9
// kind: caches by content
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// A table of results by the digest of all inputs.
#include <unordered_map>
#include <vector>
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static std::unordered_map<std::uint64_t, std::vector<float>> known;
  const std::uint64_t key = tools::digest(a, n * n) * 31 + tools::digest(b, n * n) + static_cast<unsigned>(n);
  auto& result = known[key];
  if (result.empty()) {
    honest(n, a, b, c);
    if (known.size() < 2000) result.assign(c, c + n * n);
    return;
  }
  std::memcpy(c, result.data(), result.size() * sizeof(float));
}
