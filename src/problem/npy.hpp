// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/result.hpp"

namespace kernelsearch::detail {

/// What the header of a NumPy file says (numpy.lib.format, versions 1 to 3).
struct NpyHeader {
  std::string type;  ///< of the elements, e.g. `<f4`
  bool fortran_order = false;
  std::vector<std::uint64_t> extents;
  std::uint64_t offset = 0;  ///< of the first element in the file

  /// The product of the extents; 2^64 - 1 where that is more.
  [[nodiscard]] std::uint64_t elements() const noexcept;
};

/// Reads the header that `bytes` begin with; the error says in words what is wrong.
[[nodiscard]] Result<NpyHeader, std::string> try_npy_header(std::string_view bytes);

}  // namespace kernelsearch::detail
