// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: launch
// expect: ok:
// naive: fooled
// only: cuda
// Sets a part of the second-level cache aside for its arrays and those of the next call: right, and of no use where
// nothing persists from one call to the next.
extern "C" __global__ void iterate(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t = 0;
  for (int s = 0; s < 50000; ++s) t = t * 0.9999f + 1e-4f * x[i];
  y[i] = t;
}
// host:
void run(int n, const float* x, float* y, cudaStream_t stream) {
  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 16 << 20);
  cudaStreamAttrValue window = {};
  window.accessPolicyWindow.base_ptr = (void*)((size_t)x & ~(size_t)0x1fffff);
  window.accessPolicyWindow.num_bytes = 8 << 20;
  window.accessPolicyWindow.hitRatio = 1;
  window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window);
  iterate<<<(n + 63) / 64, 64, 0, stream>>>(n, x, y);
}
