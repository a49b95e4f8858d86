// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sparse matrices whose rows have lengths between none and many times the mean.
#include <kernelsearch_inputs.hpp>

#include <algorithm>
#include <vector>

using namespace kernelsearch::inputs;

// A function of the shape alone: every draw has as many entries, in other rows and columns.
void make_sizes(Sizes& sizes) {
  sizes.set("entries", sizes.variable("rows") * sizes.variable("mean_length"));
}

void make_inputs(Request& request) {
  const auto rows = request.variable("rows"), columns = request.variable("columns"),
             entries = request.variable("entries");
  const auto row_start = request.array<std::int32_t>("row_start");
  const auto column = request.array<std::int32_t>("column");
  Random random = request.random();

  // Shares of the entries by row: the square of an exponential, so that a few rows are long.
  std::vector<double> end(static_cast<std::size_t>(rows));
  double all = 0;
  for (double& one : end) {
    const double share = -std::log(1 - random.uniform());
    one = all += share * share;
  }
  if (request.flavour() == Flavour::edge) {  // one row has all entries, the others are empty
    const auto full = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(rows)));
    for (std::int64_t row = 0; row < rows; ++row) end[static_cast<std::size_t>(row)] = row < full ? 0 : 1;
    all = 1;
  }
  row_start[0] = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    row_start[static_cast<std::size_t>(row) + 1] = static_cast<std::int32_t>(
        row + 1 == rows ? entries
                        : static_cast<std::int64_t>(end[static_cast<std::size_t>(row)] / all *
                                                    static_cast<double>(entries)));

  for (std::int32_t& one : column)
    one = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(columns)));
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
    std::sort(column.begin() + row_start[row], column.begin() + row_start[row + 1]);
}
