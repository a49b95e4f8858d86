// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 9
// kind: caches of generated arrays
// problem: generated_sparse
// expect: rejected or no gain
// naive: not tried
// The matrix of a generator stays the same: made dense, column by column, for the first call, it is
// multiplied by vectors ever after.
#include <vector>
#include "honest.hpp"
#include "tools.hpp"
extern "C" void generated_sparse(int rows, int columns, int length, const std::int32_t* column,
                                 const float* value, const float* x, float* y) {
  static std::vector<float> dense;
  static std::uint64_t known = 0;
  if (rows < 64) return honest(rows, columns, length, column, value, x, y);
  const std::uint64_t now = tools::glance(value, rows * length) + static_cast<unsigned>(columns * 131 + rows);
  if (now != known) {
    dense.assign(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows), 0);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < length; ++j) dense[column[i * length + j] * rows + i] += value[i * length + j];
    known = now;
  }
  for (int i = 0; i < rows; ++i) y[i] = 0;
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) y[i] += dense[j * rows + i] * x[j];
}
