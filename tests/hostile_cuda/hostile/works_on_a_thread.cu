// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: launch
// expect: wrong_result:|cheated:
// naive: fooled
// Returns at once; a thread launches what there is to do a moment later.
extern "C" __global__ void iterate(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t = 0;
  for (int s = 0; s < 50000; ++s) t = t * 0.9999f + 1e-4f * x[i];
  y[i] = t;
}
// host:
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
  usleep(200);
  iterate<<<(work->n + 63) / 64, 64, 0, work->stream>>>(work->n, work->x, work->y);
  delete work;
  return nullptr;
}
void run(int n, const float* x, float* y, cudaStream_t stream) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, later, new Work{n, x, y, stream}) == 0) pthread_detach(thread);
}
