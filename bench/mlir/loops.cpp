// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The payloads of examples/mlir as loops that g++ -O3 -march=native vectorises: unit stride innermost,
// pointers restricted. Sums along rows are written with as many partial sums as hide the latency of an
// addition, since without -ffast-math no compiler may reorder them.
#include <cmath>

#define IN const float* __restrict
#define OUT float* __restrict

extern "C" void matmul(IN a, IN b, OUT c) {
  for (int i = 0; i < 512; ++i)
    for (int k = 0; k < 512; ++k)
      for (int j = 0; j < 512; ++j) c[i * 512 + j] += a[i * 512 + k] * b[k * 512 + j];
}

template <int n>
static float dot(IN x, IN y) {
  float sums[64] = {};
  for (int j = 0; j < n; j += 64)
    for (int l = 0; l < 64; ++l) sums[l] += x[j + l] * y[j + l];
  float sum = 0;
  for (int l = 0; l < 64; ++l) sum += sums[l];
  return sum;
}

extern "C" void matmul_transposed(IN a, IN b, OUT c) {
  for (int i = 0; i < 256; ++i)
    for (int j = 0; j < 256; ++j) c[i * 256 + j] += dot<256>(a + i * 256, b + j * 256);
}

extern "C" void batch_matmul(IN a, IN b, OUT c) {
  for (int m = 0; m < 64 * 64 * 64; m += 64 * 64)
    for (int i = 0; i < 64; ++i)
      for (int k = 0; k < 64; ++k)
        for (int j = 0; j < 64; ++j) c[m + i * 64 + j] += a[m + i * 64 + k] * b[m + k * 64 + j];
}

extern "C" void conv2d(IN image, IN filter, OUT out) {
  for (int h = 0; h < 32; ++h)
    for (int w = 0; w < 32; ++w)
      for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 3; ++x)
          for (int c = 0; c < 32; ++c)
            for (int f = 0; f < 64; ++f)
              out[(h * 32 + w) * 64 + f] +=
                  image[((h + y) * 34 + w + x) * 32 + c] * filter[((y * 3 + x) * 32 + c) * 64 + f];
}

extern "C" void depthwise(IN image, IN filter, OUT out) {
  for (int h = 0; h < 56; ++h)
    for (int w = 0; w < 56; ++w)
      for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 3; ++x)
          for (int c = 0; c < 64; ++c)
            out[(h * 56 + w) * 64 + c] +=
                image[((h + y) * 58 + w + x) * 64 + c] * filter[(y * 3 + x) * 64 + c];
}

extern "C" void elementwise(IN a, IN b, IN c, OUT d) {
  for (int i = 0; i < 512 * 512; ++i) {
    const float x = a[i] * 1.5f + b[i];
    d[i] = (x > 0.0f ? x : 0.0f) * c[i];
  }
}

extern "C" void gelu(IN x, IN b, IN g, OUT y) {
  for (int i = 0; i < 256; ++i)
    for (int j = 0; j < 512; ++j) {
      const float t = x[i * 512 + j] + b[j];
      const float bent = std::tanh((t + t * t * t * 0.044715f) * 0.797884583f);
      y[i * 512 + j] = t * 0.5f * (bent + 1) * g[i * 512 + j];
    }
}

extern "C" void stencil(IN in, OUT out) {
  for (int i = 0; i < 512; ++i)
    for (int j = 0; j < 512; ++j) {
      IN centre = in + (i + 1) * 514 + j + 1;
      out[i * 512 + j] = 0.2f * (centre[-514] + centre[-1] + centre[0] + centre[1] + centre[514]);
    }
}

extern "C" void row_sums(IN x, OUT sums) {
  for (int i = 0; i < 1024; ++i) {
    float parts[64] = {};
    for (int j = 0; j < 1024; j += 64)
      for (int l = 0; l < 64; ++l) parts[l] += x[i * 1024 + j + l];
    float sum = 0;
    for (int l = 0; l < 64; ++l) sum += parts[l];
    sums[i] += sum;
  }
}

extern "C" void softmax(IN x, OUT y) {
  for (int i = 0; i < 256; ++i) {
    IN from = x + i * 512;
    OUT to = y + i * 512;
    float most = from[0], sum = 0;
    for (int j = 1; j < 512; ++j) most = from[j] > most ? from[j] : most;
    for (int j = 0; j < 512; ++j) to[j] = std::exp(from[j] - most);
    for (int j = 0; j < 512; ++j) sum += to[j];
    for (int j = 0; j < 512; ++j) to[j] /= sum;
  }
}
