// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention in two passes over the keys: the greatest score of each row, then the weighted sum. A block of 16
// x 16 threads has 16 query rows of one head; a thread has one score of each 16 keys, and eight columns of
// the output.
#ifndef CAUSAL
#  define CAUSAL 1
#endif

template <int Bytes>
struct Wide {
  using type = float;
};
template <>
struct Wide<8> {
  using type = double;
};

extern "C" __global__ void attention_reference(int s, int heads, real scale, const real* q, const real* k,
                                               const real* v, real* o) {
  using Sum = typename Wide<sizeof(real)>::type;
  constexpr int d = 128;
  __shared__ Sum query[16][d + 1];
  __shared__ Sum keys[16][d + 1];
  __shared__ Sum weight[16][17];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int first = blockIdx.x * 16;
  const int row = first + y;
  const long long head = static_cast<long long>(blockIdx.y) * s * d;
  const int end = CAUSAL ? min(s, first + 16) : s;

  for (int c = x; c < d; c += 16)
    query[y][c] = row < s ? Sum(q[head + static_cast<long long>(row) * d + c]) : Sum(0);

  Sum highest = Sum(-1e30);
  Sum sum = Sum(0);
  Sum result[d / 16] = {};
  for (int pass = 0; pass < 2; ++pass) {
    for (int begin = 0; begin < end; begin += 16) {
      __syncthreads();
      for (int c = x; c < d; c += 16) {
        keys[y][c] = begin + y < s ? Sum(k[head + static_cast<long long>(begin + y) * d + c]) : Sum(0);
      }
      __syncthreads();
      const int key = begin + x;
      const bool seen = key < s && (!CAUSAL || key <= row);
      Sum score = Sum(0);
      for (int c = 0; c < d; ++c) score += query[y][c] * keys[x][c];
      score *= Sum(scale);
      if (pass == 0) {
        if (seen && score > highest) highest = score;
        continue;
      }
      weight[y][x] = seen ? exp(score - highest) : Sum(0);
      __syncthreads();
      for (int c = x; c < d; c += 16) {
        keys[y][c] = begin + y < s ? Sum(v[head + static_cast<long long>(begin + y) * d + c]) : Sum(0);
      }
      __syncthreads();
      for (int j = 0; j < 16; ++j) {
        sum += weight[y][j];
        for (int i = 0; i < d / 16; ++i) result[i] += weight[y][j] * keys[j][x + 16 * i];
      }
    }
    if (pass == 0) {
      __syncthreads();
      weight[y][x] = highest;
      __syncthreads();
      for (int j = 0; j < 16; ++j) highest = weight[y][j] > highest ? weight[y][j] : highest;
    }
  }
  if (row < s) {
    for (int i = 0; i < d / 16; ++i)
      o[head + static_cast<long long>(row) * d + x + 16 * i] = real(result[i] / sum);
  }
}
