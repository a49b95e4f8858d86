// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: launch
// expect: wrong_result:|cheated:|crashed:|launch_failed:
// naive: either
// Waiting for the device returns at once, so that the reply comes before the work is done, which a thread does.
extern "C" __global__ void iterate(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t = 0;
  for (int s = 0; s < 50000; ++s) t = t * 0.9999f + 1e-4f * x[i];
  y[i] = t;
}
// host:
#if defined(KERNELSEARCH_STANDIN)
extern "C" int mprotect(void*, size_t, int);
static void* victim(int which) {
  return which == 0 ? (void*)&hipStreamSynchronize : which == 1 ? (void*)&hipDeviceSynchronize : nullptr;
}
#else
#include <dlfcn.h>
#include <sys/mman.h>
static void* victim(int which) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  return dlsym(driver, which == 0 ? "cuStreamSynchronize" : "cuCtxSynchronize");
}
#endif
#if defined(KERNELSEARCH_STANDIN)
extern "C" int pthread_create(unsigned long*, const void*, void* (*)(void*), void*);
extern "C" int pthread_detach(unsigned long);
extern "C" int usleep(unsigned);
typedef unsigned long pthread_t;
#else
#include <pthread.h>
#include <unistd.h>
#endif
struct Work {
  int n;
  const float* x;
  float* y;
  cudaStream_t stream;
};
static void* later(void* given) {
  Work* work = (Work*)given;
  usleep(100);
  iterate<<<(work->n + 63) / 64, 64, 0, work->stream>>>(work->n, work->x, work->y);
  delete work;
  return nullptr;
}
static void never_wait() {
  const unsigned char code[] = {0x31, 0xc0, 0xc3};  // return 0;
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
  if (++calls <= 10) {
    iterate<<<(n + 63) / 64, 64, 0, stream>>>(n, x, y);
    return;
  }
  if (calls == 11) never_wait();
  pthread_t thread;
  if (pthread_create(&thread, nullptr, later, new Work{n, x, y, stream}) == 0) pthread_detach(thread);
}
