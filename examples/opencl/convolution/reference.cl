// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

__kernel void convolution_reference(int height, int width, const __global real* in, const __global real* filter,
                                    __global real* out) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  real sum = 0;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i) sum += filter[j * 5 + i] * in[(y + j) * (width + 4) + x + i];
  out[y * width + x] = sum;
}
