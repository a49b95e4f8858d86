// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <vector>

namespace kernelsearch::detail {

/// Machine code whose time tells what an operation costs, as peak_kernels.hpp's.
struct PriceKernel {
  std::size_t elements = 0;  ///< of one round
  void (*run)(std::size_t rounds) = nullptr;
};

struct PriceKernels {
  int bits = 0;  ///< of the vectors
  PriceKernel exponential, exponential_f64, division, division_f64, conversion;
};

/// For each width that processor and operating system offer, the narrowest first.
[[nodiscard]] std::vector<PriceKernels> price_kernels();

}  // namespace kernelsearch::detail
