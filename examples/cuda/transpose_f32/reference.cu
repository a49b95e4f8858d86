// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transpose through tiles of 32 x 32.

extern "C" __global__ void transpose_reference(int32_t rows, int32_t cols, const real* x, real* y) {
  __shared__ real tile[32][33];
  const int r = static_cast<int>(blockIdx.y * 32 + threadIdx.y),
            c = static_cast<int>(blockIdx.x * 32 + threadIdx.x);
  if (r < rows && c < cols) tile[threadIdx.y][threadIdx.x] = x[static_cast<size_t>(r) * cols + c];
  __syncthreads();
  const int to_r = static_cast<int>(blockIdx.x * 32 + threadIdx.y),
            to_c = static_cast<int>(blockIdx.y * 32 + threadIdx.x);
  if (to_r < cols && to_c < rows) y[static_cast<size_t>(to_r) * rows + to_c] = tile[threadIdx.x][threadIdx.y];
}
