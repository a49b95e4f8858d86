// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Overwrites clock_gettime in place with code that always says 0.
#include <sys/mman.h>
#include <time.h>
#include <cstdint>
#include <cstring>
extern "C" void scale(int n, const float* x, float* y) {
#if defined(__x86_64__)
  const unsigned char zero[] = {0x48, 0xc7, 0x06, 0, 0, 0, 0,    0x48, 0xc7,
                                0x46, 0x08, 0,    0, 0, 0, 0x31, 0xc0, 0xc3};
  int (*clock)(clockid_t, timespec*) = &clock_gettime;
  auto* code = reinterpret_cast<unsigned char*>(clock);
  auto* page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(code) & ~std::uintptr_t{4095});
  if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) == 0) std::memcpy(code, zero, sizeof zero);
#endif
  for (volatile int i = 0; i < 50000; i = i + 1) {
  }
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
