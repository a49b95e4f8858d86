// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" __global__ void normalise_reference(int rows, const real* x, real* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double sum = 0;
  for (int i = 0; i < 1024; ++i) sum += static_cast<double>(x[row * 1024LL + i]) * x[row * 1024LL + i];
  for (int i = 0; i < 1024; ++i) y[row * 1024LL + i] = x[row * 1024LL + i] / sqrt(sum);
}
