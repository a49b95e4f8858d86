// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = exp(x - max) / sum exp(x - max) of each row. A block of BLOCK threads takes a row. Rows that fit are kept in
// registers, KEEP vectors of WIDTH floats in each thread; longer ones are read three times, or twice if ONLINE:
// then maximum and sum come of one walk, the sum being rescaled when the maximum grows (Milakov and Gimelshein,
// 2018).
#include "kernelsearch/device/portable.hpp"

namespace ks = kernelsearch::device;

KERNELSEARCH_DEVICE float exponential(float x) {
#if FAST_EXP
  return ks::fast_exp(x);
#else
  return expf(x);
#endif
}

constexpr float lowest = -3.402823466e38f;

constexpr int vectors = KEEP > 0 ? KEEP : 1;

/// Maximum and sum of what a thread or a group of them has seen.
struct Seen {
  float largest, sum;
};

KERNELSEARCH_DEVICE float block_reduce_largest(float value, float* scratch) {
  return ks::reduce_block<BLOCK>(value, ks::Largest(), scratch);
}
KERNELSEARCH_DEVICE float block_reduce_sum(float value, float* scratch) {
  return ks::reduce_block<BLOCK>(value, ks::Sum(), scratch);
}

template <int W>
KERNELSEARCH_DEVICE void kept_row(int cols, const float* x, float* y, float (&scratch)[2][32]) {
  const int t = static_cast<int>(threadIdx.x);
  ks::Pack<float, W> kept[vectors];
  float largest = lowest;
  KERNELSEARCH_UNROLL(vectors)
  for (int i = 0; i < vectors; ++i) {
    const int at = (i * BLOCK + t) * W;
    if (at >= cols) continue;
    kept[i] = ks::load_pack<W>(x + at);
    for (int w = 0; w < W; ++w) largest = fmaxf(largest, kept[i][w]);
  }
  largest = block_reduce_largest(largest, scratch[0]);
  float sum = 0;
  KERNELSEARCH_UNROLL(vectors)
  for (int i = 0; i < vectors; ++i) {
    if ((i * BLOCK + t) * W >= cols) continue;
    for (int w = 0; w < W; ++w) sum += kept[i][w] = exponential(kept[i][w] - largest);
  }
  const float factor = 1.0f / block_reduce_sum(sum, scratch[1]);
  KERNELSEARCH_UNROLL(vectors)
  for (int i = 0; i < vectors; ++i) {
    const int at = (i * BLOCK + t) * W;
    if (at >= cols) continue;
    for (int w = 0; w < W; ++w) kept[i][w] *= factor;
    ks::store_pack<W>(y + at, kept[i]);
  }
}

template <int W>
KERNELSEARCH_DEVICE void long_row(int cols, const float* x, float* y, float (&scratch)[2][32]) {
  const int first = static_cast<int>(threadIdx.x) * W, step = BLOCK * W;
  Seen mine{lowest, 0};
  for (int at = first; at < cols; at += step) {
    const ks::Pack<float, W> values = ks::load_pack<W>(x + at);
    float largest = mine.largest;
    for (int w = 0; w < W; ++w) largest = fmaxf(largest, values[w]);
#if ONLINE
    mine.sum *= exponential(mine.largest - largest);
    for (int w = 0; w < W; ++w) mine.sum += exponential(values[w] - largest);
#endif
    mine.largest = largest;
  }
  const float largest = block_reduce_largest(mine.largest, scratch[0]);
#if ONLINE
  mine.sum *= exponential(mine.largest - largest);
#else
  for (int at = first; at < cols; at += step) {
    const ks::Pack<float, W> values = ks::load_pack<W>(x + at);
    for (int w = 0; w < W; ++w) mine.sum += exponential(values[w] - largest);
  }
#endif
  const float factor = 1.0f / block_reduce_sum(mine.sum, scratch[1]);
  for (int at = first; at < cols; at += step) {
    ks::Pack<float, W> values = ks::load_pack<W>(x + at);
    for (int w = 0; w < W; ++w) values[w] = exponential(values[w] - largest) * factor;
    ks::store_pack<W>(y + at, values);
  }
}

template <int W>
KERNELSEARCH_DEVICE void softmax_row(int cols, const float* x, float* y, float (&scratch)[2][32]) {
  if (cols <= BLOCK * KEEP * W) kept_row<W>(cols, x, y, scratch);
  else long_row<W>(cols, x, y, scratch);
}

extern "C" __global__ void __launch_bounds__(BLOCK) KERNELSEARCH_WAVES_PER_EU(WAVES)
row_softmax(int cols, const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float scratch[2][32];
  const long long row = static_cast<long long>(blockIdx.x) * cols;
  // Rows of other lengths do not begin where a vector may.
  if (cols % WIDTH == 0) softmax_row<WIDTH>(cols, x + row, y + row, scratch);
  else softmax_row<1>(cols, x + row, y + row, scratch);
}
