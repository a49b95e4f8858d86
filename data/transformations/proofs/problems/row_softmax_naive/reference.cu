// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" __global__ void row_softmax_naive_reference(int rows, int cols, const real* x, real* y) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const real* row = x + (size_t)r * cols;
  real most = row[0], sum = 0;
  for (int c = 1; c < cols; ++c) most = row[c] > most ? row[c] : most;
  for (int c = 0; c < cols; ++c) sum += exp(row[c] - most);
  for (int c = 0; c < cols; ++c) y[(size_t)r * cols + c] = exp(row[c] - most) / sum;
}
