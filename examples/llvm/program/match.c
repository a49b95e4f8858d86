// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "picture.h"

static int32_t score(const int8_t* a, const int8_t* b, int count) {
  int32_t sum = 0;
  for (int i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

int32_t best_place(int width, int height, const int8_t* picture, const int8_t* patch, int32_t* place) {
  int32_t best = INT32_MIN;
  for (int y = 0; y + patch_side <= height; ++y)
    for (int x = 0; x + patch_side <= width; ++x) {
      int32_t sum = 0;
      for (int row = 0; row < patch_side; ++row)
        sum += score(picture + (y + row) * width + x, patch + row * patch_side, patch_side);
      if (sum > best) {
        best = sum;
        *place = y * width + x;
      }
    }
  return best;
}
