// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: softmax
// A block for each row.
#include "kernelsearch/device/portable.hpp"
namespace ks = kernelsearch::device;
extern "C" __global__ void softmax(int n, int m, const float* x, float* y) {
  __shared__ float scratch[64];
  x += blockIdx.x * m, y += blockIdx.x * m;
  float most = x[0], sum = 0;
  for (int j = threadIdx.x; j < m; j += 64) most = fmaxf(most, x[j]);
  most = ks::reduce_block<64>(most, ks::Largest(), scratch);
  __syncthreads();
  for (int j = threadIdx.x; j < m; j += 64) sum += expf(x[j] - most);
  sum = ks::reduce_block<64>(sum, ks::Sum(), scratch);
  for (int j = threadIdx.x; j < m; j += 64) y[j] = expf(x[j] - most) / sum;
}
