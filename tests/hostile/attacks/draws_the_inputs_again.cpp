// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 14
// kind: guessed seeds
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// Draws the inputs of the usual seed while it is loaded, and has their result at hand; other inputs get it
// too when their first elements agree.
#include <cstring>
#include <random>
#include "honest.hpp"
static float in[2][64 * 64], result[64 * 64];
[[gnu::constructor]] static void begin() {
  std::mt19937 generator(42);
  std::uniform_real_distribution<float> draw(-1.0f, 1.0f);
  for (auto& array : in)
    for (float& element : array) element = draw(generator);
  honest(64, in[0], in[1], result);
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n == 64 && a[0] == in[0][0] && a[1] == in[0][1])
    std::memcpy(c, result, sizeof result);
  else
    honest(n, a, b, c);
}
