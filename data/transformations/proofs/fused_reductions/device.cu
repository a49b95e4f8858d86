// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A row's maximum so far, and the sum of exp(x - most) so far.
struct Both {
  float most, sum;
};
// The sum of the one whose maximum is less is scaled to the other's; nothing seen yet counts as nothing.
static __device__ __forceinline__ Both join(Both a, Both b) {
  const float most = fmaxf(a.most, b.most);
  if (most == -INFINITY) return a;
  return {most, a.sum * __expf(a.most - most) + b.sum * __expf(b.most - most)};
}
__global__ void softmax(int rows, int cols, const float* x, float* y) {
  __shared__ Both parts[32];
  const float* row = x + (size_t)blockIdx.x * cols;
  Both both{-INFINITY, 0};
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    const float value = row[c];
    if (value > both.most) {
      both.sum = both.sum * __expf(both.most - value) + 1;
      both.most = value;
    } else {
      both.sum += __expf(value - both.most);
    }
  }
  both = ks_block_reduce<BLOCK>(both, Both{-INFINITY, 0}, parts, threadIdx.x, join);
  const float scale = 1 / both.sum;
  for (int c = threadIdx.x; c < cols; c += BLOCK) y[(size_t)blockIdx.x * cols + c] = __expf(row[c] - both.most) * scale;
}
