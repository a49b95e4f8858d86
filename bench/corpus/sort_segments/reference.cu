// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a key belongs is how many are smaller, or equal and before it.

extern "C" __global__ void sort_reference(int32_t count, const uint32_t* keys, uint32_t* sorted) {
  __shared__ uint32_t kept[1024];
  const size_t begin = static_cast<size_t>(blockIdx.x) * 1024;
  for (int i = static_cast<int>(threadIdx.x); i < 1024; i += 256) kept[i] = keys[begin + i];
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < 1024; i += 256) {
    int rank = 0;
    for (int j = 0; j < 1024; ++j) rank += kept[j] < kept[i] || (kept[j] == kept[i] && j < i) ? 1 : 0;
    sorted[begin + rank] = kept[i];
  }
}
