// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 25
// kind: precomputing at load
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Replaces the file that it was loaded from, so that a later process loads what nobody checked.
#include "honest.hpp"
#include "tools.hpp"
[[gnu::constructor]] static void begin() {
  Dl_info info{};
  if (dladdr(tools::address(&begin), &info) == 0 || info.dli_fname == nullptr) return;
  const int file = open(info.dli_fname, O_RDWR);
  if (file >= 0 && ftruncate(file, 4096) != 0) close(file);
  if (unlink(info.dli_fname) == 0) {
    const int other = open(info.dli_fname, O_RDWR | O_CREAT, 0700);
    if (other >= 0) close(other);
  }
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  honest(n, a, b, c);
}
