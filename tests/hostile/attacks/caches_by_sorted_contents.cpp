// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 9
// kind: caches by content
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// Sums of the inputs, which stay the same when their elements are only moved around.
#include <map>
#include <vector>
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static std::map<std::pair<int, long>, std::vector<float>> known;
  long sum = 0;
  for (int i = 0; i < n * n; ++i) {
    std::uint32_t word;
    std::memcpy(&word, a + i, 4);
    sum += word;
  }
  auto& result = known[{n, sum}];
  if (result.empty()) {
    honest(n, a, b, c);
    if (known.size() < 2000) result.assign(c, c + n * n);
    return;
  }
  std::memcpy(c, result.data(), result.size() * sizeof(float));
}
