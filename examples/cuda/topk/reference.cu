// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block for each row: k times the largest of those that come after what was found last.

extern "C" __global__ void topk_reference(int32_t rows, int32_t cols, int32_t k, const real* x, real* values,
                                          int32_t* columns) {
  __shared__ real best[256];
  __shared__ int best_at[256];
  const int t = static_cast<int>(threadIdx.x);
  const size_t row = blockIdx.x;
  const real* from = x + row * cols;
  real last = 0;
  int last_at = -1;
  for (int found = 0; found < k; ++found) {
    int at = -1;
    real value = 0;
    for (int c = t; c < cols; c += 256) {
      const bool left = found == 0 || from[c] < last || (from[c] == last && c > last_at);
      if (left && (at < 0 || from[c] > value)) {
        at = c;
        value = from[c];
      }
    }
    best[t] = value;
    best_at[t] = at;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
      if (t < half && best_at[t + half] >= 0) {
        const bool later = best_at[t] < 0 || best[t + half] > best[t] ||
                           (best[t + half] == best[t] && best_at[t + half] < best_at[t]);
        if (later) {
          best[t] = best[t + half];
          best_at[t] = best_at[t + half];
        }
      }
      __syncthreads();
    }
    last = best[0];
    last_at = best_at[0];
    if (t == 0) {
      values[row * k + found] = last;
      columns[row * k + found] = last_at;
    }
    __syncthreads();
  }
}
