// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread for each option.

extern "C" __global__ void black_scholes_reference(int32_t n, const real* spot, const real* strike,
                                                   const real* years, real* call, real* put) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const real rate = 0.02, volatility = 0.3, s = spot[i], k = strike[i], y = years[i], root = sqrt(y);
  const real d1 = (log(s / k) + (rate + volatility * volatility / 2) * y) / (volatility * root);
  const real d2 = d1 - volatility * root, discounted = k * exp(-rate * y), half = sqrt(real(0.5));
  call[i] = s * erfc(-d1 * half) / 2 - discounted * erfc(-d2 * half) / 2;
  put[i] = discounted * erfc(d2 * half) / 2 - s * erfc(d1 * half) / 2;
}
