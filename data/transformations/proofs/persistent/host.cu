// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many blocks the device runs at a time; asked for once.
static int workers() {
  static const int count = [] {
    int device = 0, processors = 1, blocks = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, matmul, THREADS, 0);
    return processors * blocks;
  }();
  return count;
}

void launch_matmul(int n, int m, int k, const float* a, const float* b, float* c, cudaStream_t stream) {
  const int tiles = TILES_M * TILES_N;
  matmul<<<tiles < workers() ? tiles : workers(), dim3(BDX, BDY), 0, stream>>>(n, m, k, a, b, c);
}
