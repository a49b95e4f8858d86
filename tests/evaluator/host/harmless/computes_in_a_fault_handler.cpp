// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Would protect its outputs and compute them when somebody reads them.
#include <signal.h>
#include <sys/mman.h>
#include <cstdint>
namespace {
int count;
const float* from;
float* to;
void* page;
void late(int) {
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
  for (int i = 0; i < count; ++i) to[i] = 3 * from[i] + 1;
}
}  // namespace
extern "C" void scale(int n, const float* x, float* y) {
  count = n;
  from = x;
  to = y;
  page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(y) & ~std::uintptr_t{4095});
  const bool later = signal(SIGSEGV, late) != SIG_ERR && mprotect(page, 4096, PROT_NONE) == 0;
  if (later) return;
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
