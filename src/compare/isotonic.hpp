// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

namespace kernelsearch::comparing {

/// The non-decreasing sequence nearest to `y` in weighted squares, in place. Pool adjacent violators
/// (Busing, "Monotone regression: a simple and fast O(n) PAVA implementation", 2022); the sums are taken in
/// the order in which SciPy takes them, because ranks that lie half-way are rounded afterwards.
void isotonic_regression(std::vector<double>& y, std::vector<double> weights);

}  // namespace kernelsearch::comparing
