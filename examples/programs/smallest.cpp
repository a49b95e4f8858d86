// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The smallest complete use: search the tile sizes of a blocked transpose, timed right here.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "kernelsearch/kernelsearch.hpp"

using namespace kernelsearch;

int main() {
  constexpr std::size_t n = 1024;
  std::vector<float> from(n * n, 1.0f), to(n * n);
  const Space space = SpaceBuilder()
                          .add(Tunable::power_of_two("rows", 1, 256))
                          .add(Tunable::power_of_two("columns", 1, 256))
                          .require("rows * columns <= 16384")
                          .build();
  const auto seconds = [&](const Candidate& candidate) {
    const auto rows = static_cast<std::size_t>(to_number(space.value(candidate.config, 0)));
    const auto columns = static_cast<std::size_t>(to_number(space.value(candidate.config, 1)));
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i0 = 0; i0 < n; i0 += rows)
      for (std::size_t j0 = 0; j0 < n; j0 += columns)
        for (std::size_t i = i0; i < std::min(n, i0 + rows); ++i)
          for (std::size_t j = j0; j < std::min(n, j0 + columns); ++j) to[j * n + i] = from[i * n + j];
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Optimizer search{IteratedLocalSearch(space), TemplateGenerator(Kernel{{}, space}),
                   FunctionEvaluator(seconds)};
  search.run(MaxTrials{40});
  const auto* best = search.best();
  if (best == nullptr) return 1;  // no trial was right
  std::printf("best of %zu: rows,columns = %s, %.3f ms\n", search.trials().size(),
              space.key(best->candidate->config).c_str(), 1e3 * best->outcome.objective);
}
