// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: launch
// expect: cheated: clock outside|ok:
// charged: yes
// naive: either
// Lets twelve calls be timed as they are, then makes the driver's function read a hundred thousandth.
extern "C" __global__ void iterate(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t = 0;
  for (int s = 0; s < 50000; ++s) t = t * 0.9999f + 1e-4f * x[i];
  y[i] = t;
}
// host:
#if defined(KERNELSEARCH_STANDIN)
extern "C" int hipEventElapsedTime(float*, void*, void*);
extern "C" int mprotect(void*, size_t, int);
static void* victim(int which) { return which == 0 ? (void*)&hipEventElapsedTime : nullptr; }
#else
#include <dlfcn.h>
#include <sys/mman.h>
static void* victim(int which) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  return dlsym(driver, which == 0 ? "cuEventElapsedTime" : "cuEventElapsedTime_v2");
}
#endif
static void forge() {
  // *milliseconds = 1e-5f; return 0;
  const unsigned char code[] = {0xc7, 0x07, 0xac, 0xc5, 0x27, 0x37, 0x31, 0xc0, 0xc3};
  for (int which = 0; which < 2; ++which) {
    unsigned char* at = (unsigned char*)victim(which);
    if (at == nullptr) continue;
    void* page = (void*)((size_t)at & ~(size_t)4095);
    if (mprotect(page, 8192, 7) != 0) continue;
    for (size_t i = 0; i < sizeof code; ++i) at[i] = code[i];
  }
}
void run(int n, const float* x, float* y, cudaStream_t stream) {
  static int calls = 0;
  if (++calls == 12) forge();
  iterate<<<(n + 63) / 64, 64, 0, stream>>>(n, x, y);
}
