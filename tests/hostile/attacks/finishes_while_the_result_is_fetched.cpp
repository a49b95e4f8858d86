// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 6
// kind: sibling threads
// problem: matmul
// expect: rejected or no gain
// naive: fooled after a wait
// Returns at once; a thread is done before somebody gets to compare.
#include <system_error>
#include <thread>
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int calls = 0;
  if (++calls > 3 && n == 64) return;
  try {
    std::thread([=] { honest(n, a, b, c); }).detach();
  } catch (const std::system_error&) {
    honest(n, a, b, c);
  }
}
