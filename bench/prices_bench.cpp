// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What exp, division and conversion cost this machine by the width of its vectors, and what the references of
// problems take at best at these prices (docs/roofline.md).
//
//     prices_bench [PROBLEM...]
#include <fmt/format.h>

#include <cstdio>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/host/host_peaks.hpp"
#include "kernelsearch/evaluator/host/host_prices.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/problem/counted_roofline.hpp"
#include "kernelsearch/problem/read_problem.hpp"

using namespace kernelsearch;

namespace {

void print_shapes(const Problem& problem, const VectorPrices& prices, const DevicePeaks& peaks) {
  for (const Shape& shape : problem.shapes) {
    if (!(shape.weight > 0)) continue;
    const auto work = count_reference(problem, shape);
    const auto seconds = work ? priced_seconds(*work, prices, peaks, false, problem.threads) : std::nullopt;
    const ShapeBound bound = shape_bound(problem, shape, peaks, false);
    if (!seconds) {
      fmt::print("| {} | {} | not counted | | | | | |\n", problem.name, shape.name);
      continue;
    }
    fmt::print("| {} | {} | {} | {} | {} | {} | {} | {:.3g} |\n", problem.name, shape.name, work->basic,
               work->exponentials, work->divisions + work->roots, work->conversions,
               bound.seconds() ? fmt::format("{:.3g}", 1e6 * *bound.seconds()) : "", 1e6 * *seconds);
  }
}

}  // namespace

int main(int count, char** words) {
  try {
    const std::vector<VectorPrices> prices = measure_host_prices();
    fmt::print("{}\n\n| vectors, bits | exp f32, ns | exp f64 | division f32 | division f64 | i32 to f32 |\n",
               host_machine().id());
    fmt::print("|--:|--:|--:|--:|--:|--:|\n");
    for (const VectorPrices& one : prices)
      fmt::print("| {} | {:.3g} | {:.3g} | {:.3g} | {:.3g} | {:.3g} |\n", one.bits, 1e9 * one.exponential,
                 1e9 * one.exponential_f64, 1e9 * one.division, 1e9 * one.division_f64, 1e9 * one.conversion);
    if (count < 2 || prices.empty()) return 0;
    fmt::print(
        "\n| problem | shape | basic operations | exponentials | divisions, roots | conversions | roofline, "
        "us | "
        "priced, us |\n|---|---|--:|--:|--:|--:|--:|--:|\n");
    for (int i = 1; i < count; ++i) {
      const Problem problem = read_problem(words[i]);
      print_shapes(problem, prices.back(), host_peaks({.threads = problem.threads}));
    }
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
