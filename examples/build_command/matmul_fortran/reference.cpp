// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>

// The usual order of the three loops for columns that lie together.
void matmul_fortran_reference(std::int32_t n, std::int32_t m, std::int32_t k, const real* a, const real* b,
                              real* c) {
  const auto rows = static_cast<std::size_t>(n), columns = static_cast<std::size_t>(m),
             depth = static_cast<std::size_t>(k);
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < rows; ++i) c[j * rows + i] = 0;
    for (std::size_t p = 0; p < depth; ++p)
      for (std::size_t i = 0; i < rows; ++i) c[j * rows + i] += a[p * rows + i] * b[j * depth + p];
  }
}
