// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

// By a fast Fourier transform of the elements at even places followed by those at odd ones from the end
// (Makhoul): the definition would take seconds. n is a power of two.
void cosine_reference(int n, const real* x, real* y) {
  const double turn = 6.283185307179586476925;
  std::vector<std::complex<real>> v(n), root(n);
  for (int i = 0; 2 * i < n; ++i) {
    v[i] = x[2 * i];
    if (2 * i + 1 < n) v[n - 1 - i] = x[2 * i + 1];
  }
  for (int i = 0; i < n; ++i)
    root[i] = {static_cast<real>(std::cos(turn * i / n)), static_cast<real>(-std::sin(turn * i / n))};
  for (int i = 1, j = 0; i < n; ++i) {
    int bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(v[i], v[j]);
  }
  for (int half = 1; half < n; half *= 2)
    for (int begin = 0; begin < n; begin += 2 * half)
      for (int i = 0; i < half; ++i) {
        const std::complex<real> w = root[i * (n / (2 * half))], a = v[begin + i], b = v[begin + half + i];
        const std::complex<real> t(w.real() * b.real() - w.imag() * b.imag(),
                                   w.real() * b.imag() + w.imag() * b.real());
        v[begin + i] = a + t;
        v[begin + half + i] = a - t;
      }
  for (int k = 0; k < n; ++k) {
    const double angle = turn * k / (4.0 * n);
    const double sum = static_cast<double>(v[k].real()) * std::cos(angle) +
                       static_cast<double>(v[k].imag()) * std::sin(angle);
    y[k] = static_cast<real>(sum * std::sqrt((k == 0 ? 1.0 : 2.0) / n));
  }
}
