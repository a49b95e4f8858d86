// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: crashed:
// naive: breaks
// An assertion does not hold.
#if defined(__CUDACC_RTC__)
extern "C" __device__ __attribute__((noreturn)) void __assertfail(const char*, const char*, unsigned,
                                                                  const char*, size_t);
#  define CLAIM(what) ((what) ? (void)0 : __assertfail(#  what, "kernel", __LINE__, "scale", 1))
#else
#  define CLAIM(what) assert(what)
#endif
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  CLAIM(n < 0);
  if (i < n) y[i] = 3 * x[i] + 1;
}
