// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread for each result.

extern "C" __global__ void conv1d_reference(int32_t length, const real* signal, const real* filter,
                                            real* result) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), o = static_cast<int>(blockIdx.y);
  if (i >= length) return;
  real sum = 0;
  for (int c = 0; c < 16; ++c)
    for (int k = 0; k < 7; ++k)
      sum += filter[(o * 16 + c) * 7 + k] * signal[static_cast<size_t>(c) * (length + 6) + i + k];
  result[static_cast<size_t>(o) * length + i] = sum;
}
