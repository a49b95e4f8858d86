// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" void dot(int n, const float* a, const float* b, float* total) {
  float totals[ACCUMULATORS] = {};
  int i = 0;
  for (; i + ACCUMULATORS <= n; i += ACCUMULATORS)
    for (int e = 0; e < ACCUMULATORS; ++e) totals[e] += a[i + e] * b[i + e];
  for (; i < n; ++i) totals[0] += a[i] * b[i];
  for (int half = ACCUMULATORS / 2; half > 0; half /= 2)
    for (int e = 0; e < half; ++e) totals[e] += totals[e + half];
  *total = totals[0];
}
