// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" void rowmax(int rows, int columns, const float* x, float* y) {
  constexpr int lanes = 64;
  for (int r = 0; r < rows; ++r) {
    const float* row = x + static_cast<long>(r) * columns;
    float largest = row[0];
    int c = 0;
    if (columns >= lanes) {
      float most[lanes];
      for (int l = 0; l < lanes; ++l) most[l] = row[l];
      for (c = lanes; c + lanes <= columns; c += lanes)
        for (int l = 0; l < lanes; ++l) most[l] = row[c + l] > most[l] ? row[c + l] : most[l];
      for (int l = 0; l < lanes; ++l) largest = most[l] > largest ? most[l] : largest;
    }
    for (; c < columns; ++c) largest = row[c] > largest ? row[c] : largest;
    y[r] = largest;
  }
}
