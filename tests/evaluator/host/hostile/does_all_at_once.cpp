// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: cheated: buffers of other calls
// Remembers where the calls of a batch have their buffers and does all of them in the first call.
#include <set>
#include <utility>
extern "C" void scale(int n, const float* x, float* y) {
  static std::set<std::pair<const float*, float*>> calls;
  if (n != 4096) {
    for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
    return;
  }
  calls.insert({x, y});
  for (const auto& [in, out] : calls)
    for (int i = 0; i < n; ++i) out[i] = 3 * in[i] + 1;
}
