// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "picture.h"

void grey_of(int count, const uint8_t* colours, int8_t* grey) {
  for (int i = 0; i < count; ++i) {
    const uint8_t* colour = colours + 3 * i;
    grey[i] = (int8_t)(((77 * colour[0] + 150 * colour[1] + 29 * colour[2]) >> 9) - 64);
  }
}
