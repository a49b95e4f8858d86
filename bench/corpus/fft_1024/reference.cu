// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By the definition, a block for each transform.

extern "C" __global__ void fft_reference(int32_t count, const real* in, real* out) {
  __shared__ real re[1024], im[1024], c[1024], s[1024];
  const real* const from = in + static_cast<size_t>(blockIdx.x) * 2048;
  for (int i = static_cast<int>(threadIdx.x); i < 1024; i += 256) {
    re[i] = from[2 * i], im[i] = from[2 * i + 1];
    const double angle = -6.283185307179586476925286766559 * i / 1024;
    c[i] = real(cos(angle)), s[i] = real(sin(angle));
  }
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < 1024; k += 256) {
    real a = 0, b = 0;
    for (int i = 0; i < 1024; ++i) {
      const int w = (i * k) % 1024;
      a += re[i] * c[w] - im[i] * s[w];
      b += re[i] * s[w] + im[i] * c[w];
    }
    out[static_cast<size_t>(blockIdx.x) * 2048 + 2 * k] = a;
    out[static_cast<size_t>(blockIdx.x) * 2048 + 2 * k + 1] = b;
  }
}
