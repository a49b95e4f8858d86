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
  if (request.flavour() == Flavour::edge) {
    // One row has 16384 entries, or all where there are fewer, and the others share the rest: the sum of a
    // row of millions in single precision is too uncertain to be compared.
    const auto full = random.below(static_cast<std::uint64_t>(rows));
    const double longest = std::min(static_cast<double>(entries), 16384.0);
    const double others =
        (static_cast<double>(entries) - longest) / std::max(1.0, static_cast<double>(rows) - 1);
    all = 0;
    for (std::size_t row = 0; row < end.size(); ++row) end[row] = all += row == full ? longest : others;
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
