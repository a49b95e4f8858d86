// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = W x with W in four bits, the lower ones first, and a scale for each 128 elements of a row. A block of
// 128 threads for each row.

extern "C" __global__ void matvec_reference(int n, int k, const uint8_t* weights, const real* scales, const real* x,
                                            real* y) {
  __shared__ real parts[128];
  const size_t row = blockIdx.x;
  real sum = 0;
  for (int i = threadIdx.x; i < k; i += 128) {
    const size_t element = row * k + i;
    const int four_bits = weights[element / 2] >> (element % 2 * 4) & 15;
    sum += static_cast<real>(four_bits < 8 ? four_bits : four_bits - 16) * scales[element / 128] * x[i];
  }
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 128; ++i) sum += parts[i];
  y[row] = sum;
}
