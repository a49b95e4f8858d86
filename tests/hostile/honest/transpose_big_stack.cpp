// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A megabyte of stack.
// problem: transpose
#include <alloca.h>

#include <cstring>
extern "C" void transpose(int rows, int columns, const float* x, float* y) {
  constexpr std::size_t size = std::size_t{1} << 20;
  auto* const frame = static_cast<unsigned char*>(alloca(size));
  for (std::size_t i = 0; i < size; i += 4096) reinterpret_cast<volatile unsigned char*>(frame)[i] = 1;
  auto* const own = reinterpret_cast<float*>(frame);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) own[c * rows + r] = x[r * columns + c];
  std::memcpy(y, own, sizeof(float) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
}
