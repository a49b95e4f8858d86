// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/time_judgement.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

#include "evaluator/host/batches.hpp"
#include "kernelsearch/evaluator/sampling.hpp"

namespace kernelsearch::detail {
namespace {

constexpr double most_uneven = 1.5;  // the mean over the median
// A batch is slow from here on, next to the fast ones of its process, and none counts for more than the
// second: one that the machine held up for milliseconds is still one.
constexpr double slow = 0.5, slowest = 8;

/// What the slowest of the fastest fifth takes. Where half are slow the median is now one of these, now one
/// of those.
double of_the_fast(std::span<const double> seconds) {
  std::vector<double> sorted(seconds.begin(), seconds.end());
  const auto fifth = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 5);
  std::nth_element(sorted.begin(), fifth, sorted.end());
  return *fifth;
}

/// By how much more each takes than the fast ones, where that is much.
std::vector<double> excesses(std::span<const double> seconds) {
  const double fast = of_the_fast(seconds);
  std::vector<double> excess;
  for (const double each : seconds) {
    const double more = each / fast - 1;
    excess.push_back(more > slow ? std::min(more, slowest) : 0.0);
  }
  return excess;
}

}  // namespace

bool is_uneven(std::span<const double> seconds) {
  const double mean =
      std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
  return mean > most_uneven * median(seconds);
}

double lone_seconds(std::span<const double> calls, std::span<const double> empty) {
  return per_call(of_the_fast(calls), of_the_fast(empty), 1);
}

Pattern pattern_of(std::span<const double> once, std::span<const double> again) {
  if (!is_uneven(once) && !is_uneven(again)) return Pattern::even;
  const std::vector<double> a = excesses(once), b = excesses(again);
  double both = 0, either = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += std::min(a[i], b[i]);
    either += std::max(a[i], b[i]);
  }
  // For batches that are slow by chance in a share p < 1/2, both is p / (2 - p) < 1/3 of either.
  return 2 * both >= either ? Pattern::shared : Pattern::own;
}

Fault not_distinguishable(const std::string& what, double disturbance) {
  char text[200];
  std::snprintf(
      text, sizeof text,
      "; this cannot be told from the load of the machine, of which others had up to %.0f %%: measure "
      "it again when the machine is idle",
      100 * disturbance);
  return {Verdict::timed_out, what + text, 0.0, true};
}

}  // namespace kernelsearch::detail
