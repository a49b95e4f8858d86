// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PICTURE_H
#define PICTURE_H

#include <stdint.h>

enum { patch_side = 160 };

/// Brightness about the middle, -64 to 63, of `count` points of red, green and blue.
void grey_of(int count, const uint8_t* colours, int8_t* grey);

/// Looks for the place where the patch fits best; its score, and the place as row * width + column.
int32_t best_place(int width, int height, const int8_t* picture, const int8_t* patch, int32_t* place);

#endif
