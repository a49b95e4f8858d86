// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 9
// kind: caches by content
// problem: matvec
// expect: rejected
// naive: fooled
// Same arrays, same shape: same result.
#include <cstring>
#include <map>
#include <tuple>
#include <vector>
#include "honest.hpp"
extern "C" void matvec(int n, const float* a, const float* x, float* y) {
  static std::map<std::tuple<int, const float*, const float*>, std::vector<float>> known;
  auto& result = known[{n, a, x}];
  if (result.empty()) {
    honest(n, a, x, y);
    result.assign(y, y + n);
  }
  std::memcpy(y, result.data(), result.size() * sizeof(float));
}
