// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread for each vertex.

extern "C" __global__ void pagerank_reference(int32_t n, int32_t degree, const int32_t* source,
                                              const real* rank, const real* inverse, real* next) {
  const int vertex = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (vertex >= n) return;
  real sum = 0;
  for (int e = 0; e < degree; ++e) {
    const int from = source[static_cast<size_t>(vertex) * degree + e];
    sum += rank[from] * inverse[from];
  }
  next[vertex] = real(0.15) + real(0.85) * sum;
}
