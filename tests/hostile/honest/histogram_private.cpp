// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Four histograms at once, added up at the end.
// problem: histogram
extern "C" void histogram(int n, const int* x, int* counts) {
  int own[4][64] = {};
  int i = 0;
  for (; i + 4 <= n; i += 4)
    for (int j = 0; j < 4; ++j) ++own[j][x[i + j]];
  for (; i < n; ++i) ++own[0][x[i]];
  for (int b = 0; b < 64; ++b) counts[b] = own[0][b] + own[1][b] + own[2][b] + own[3][b];
}
