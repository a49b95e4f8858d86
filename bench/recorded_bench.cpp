// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Seconds to read recordings: `recorded_bench FILE...` prints the best of five for each, with everything that
// reading includes (unpacking, parsing, statistics of the samples, building the space).
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "kernelsearch/recorded/read_recording.hpp"

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  fmt::print("| file | configurations | MiB | seconds |\n|---|---|---|---|\n");
  for (int i = 1; i < argc; ++i) {
    const std::filesystem::path file = argv[i];
    double best = std::numeric_limits<double>::infinity();
    std::size_t trials = 0;
    for (int round = 0; round < 5; ++round) {
      const auto start = Clock::now();
      trials = kernelsearch::read_recording(file).trials.size();
      best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
    fmt::print("| {} | {} | {:.1f} | {:.3f} |\n", file.filename().string(), trials,
               static_cast<double>(std::filesystem::file_size(file)) / (1 << 20), best);
  }
}
