// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 9
// kind: caches by content
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// The first elements tell which inputs they are.
#include <map>
#include <vector>
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static std::map<std::pair<float, float>, std::vector<float>> known;
  auto& result = known[{a[0] + 2 * a[1], b[0] + 2 * b[1]}];
  if (result.size() != static_cast<std::size_t>(n) * static_cast<std::size_t>(n)) {
    honest(n, a, b, c);
    if (known.size() < 2000) result.assign(c, c + n * n);
    return;
  }
  std::memcpy(c, result.data(), result.size() * sizeof(float));
}
