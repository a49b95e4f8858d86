// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block for each product.

extern "C" __global__ void batched_matmul_reference(int32_t count, const real* a, const real* b, real* c) {
  const size_t begin = static_cast<size_t>(blockIdx.x) * 256;
  const int x = static_cast<int>(threadIdx.x) % 16, y = static_cast<int>(threadIdx.x) / 16;
  real sum = 0;
  for (int k = 0; k < 16; ++k) sum += a[begin + y * 16 + k] * b[begin + k * 16 + x];
  c[begin + y * 16 + x] = sum;
}
