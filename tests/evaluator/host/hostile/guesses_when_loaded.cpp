// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: wrong_result: y[
// Looks for inputs in the shared memory before there are any, and answers from what it found.
#include <sys/mman.h>
#include <cstring>
static float found[4096];
__attribute__((constructor)) static void begin() {
  void* at = mmap(nullptr, 1 << 20, PROT_READ, MAP_SHARED, 4, 0);
  if (at != MAP_FAILED) std::memcpy(found, static_cast<char*>(at) + 4096, sizeof found);
}
extern "C" void scale(int n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = 3 * found[i] + 1;
}
