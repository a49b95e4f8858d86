// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread for each element.

extern "C" __global__ void grouped_matmul_reference(int32_t rows, int32_t groups, int32_t n, int32_t depth,
                                                    const int32_t* start, const real* a, const real* b,
                                                    real* c) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
            row = static_cast<int>(blockIdx.y);
  if (column >= n) return;
  int g = 0;
  while (g + 1 < groups && start[g + 1] <= row) ++g;
  real sum = 0;
  for (int k = 0; k < depth; ++k)
    sum += a[static_cast<size_t>(row) * depth + k] * b[(static_cast<size_t>(g) * depth + k) * n + column];
  c[static_cast<size_t>(row) * n + column] = sum;
}
