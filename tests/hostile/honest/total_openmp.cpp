// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenMP, whose threads stay for the next call.
// problem: total
// threads: 2
// flags: -O2 -fopenmp
extern "C" void total(int n, const float* x, float* s) {
  float t = 0;
#pragma omp parallel for reduction(+ : t) num_threads(2)
  for (int i = 0; i < n; ++i) t += x[i];
  *s = t;
}
