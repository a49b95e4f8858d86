// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One block: a thread adds up its stretch, waits for what lies before it, and goes over it again.

extern "C" __global__ void scan_reference(int32_t n, const uint32_t* x, uint32_t* y) {
  __shared__ uint32_t sums[1024];
  const int t = static_cast<int>(threadIdx.x);
  const int stretch = (n + 1023) / 1024;
  const int first = min(t * stretch, n), last = min(first + stretch, n);
  uint32_t sum = 0;
  for (int i = first; i < last; ++i) sum += x[i];
  sums[t] = sum;
  __syncthreads();
  uint32_t before = 0;
  for (int s = 0; s < t; ++s) before += sums[s];
  for (int i = first; i < last; ++i) y[i] = before += x[i];
}
