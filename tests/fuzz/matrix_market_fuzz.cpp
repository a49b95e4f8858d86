// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "problem/matrix_market.hpp"
#include "problem/npy.hpp"

/// Any text is a matrix, whose entries lie inside of it and in order, or a fault in words; so are NumPy
/// headers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto header = kernelsearch::detail::try_npy_header(text)) {
    (void)header->elements();
    if (header->offset > size) std::abort();
  } else if (header.error().empty()) {
    std::abort();
  }
  const auto matrix = kernelsearch::detail::try_matrix_market(text);
  if (!matrix) {
    if (matrix.error().empty()) std::abort();
    return 0;
  }
  std::int64_t row = 0;
  for (const auto& entry : matrix->entries) {
    if (entry.row < row || entry.row >= matrix->rows || entry.column < 0 || entry.column >= matrix->columns)
      std::abort();
    row = entry.row;
  }
  return 0;
}
