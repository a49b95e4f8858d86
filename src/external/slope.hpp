// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "judge/pairs.hpp"
#include "kernelsearch/core/rng.hpp"
#include "process/process.hpp"

namespace kernelsearch::external {

/// What the longer requests take, at least, so that what requests themselves take is little next to it.
inline constexpr double request_of_calls = 0.004;
inline constexpr std::size_t least_calls = 4, most_calls = 64;
/// What a request itself may take without counting as its calls' time. A program that pads its single calls,
/// so that the difference to several is less, gains this share of a longer request at most.
inline constexpr double request_alone = 200e-6;
/// For that many equal requests the shortest counts: others are held up by what else the machine does.
inline constexpr int slope_tries = 3;

/// One time of a call by the slope of requests.
struct Slope {
  double seconds = 0;  ///< of one call
  double one = 0;      ///< the shortest request of a single call
};

/// How many calls the longer requests have where a call takes about that long and there is room for `room`.
[[nodiscard]] inline std::size_t calls_of_slope(double estimate, std::size_t room) {
  if (estimate >= detail::long_call) return std::min<std::size_t>(2, room);
  const double wanted = std::ceil(request_of_calls / std::max(estimate, 1e-7));
  const double most = static_cast<double>(std::min(most_calls, room));
  return static_cast<std::size_t>(std::clamp(wanted, std::min<double>(least_calls, most), most));
}

/// What a request of `calls` calls takes longer than one of a single call, by call; the one way in which
/// programs of others are timed. `timed(calls, wall)` makes a request and returns an optional fault;
/// `shortest()` is called after the shortest longer one so far.
template <class Fault, class Timed, class Shortest>
[[nodiscard]] std::optional<Fault> take_slope(double estimate, std::size_t calls, Timed&& timed,
                                              Shortest&& shortest, Slope& slope) {
  std::vector<std::size_t> requests;
  for (int i = 0; i < (estimate >= detail::long_call ? 1 : slope_tries); ++i)
    requests.insert(requests.end(), {std::size_t{1}, calls});
  // In a random order: what one leaves behind for the next meets both kinds alike.
  Rng rng(detail::secret_seed());
  rng.shuffle(requests);
  double one = std::numeric_limits<double>::infinity(), many = one;
  for (const std::size_t wanted : requests) {
    double wall = 0;
    if (auto fault = timed(wanted, wall)) return fault;
    if (wanted == 1) {
      one = std::min(one, wall);
    } else if (wall < many) {
      many = wall;
      shortest();
    }
  }
  const double count = static_cast<double>(calls);
  slope.one = one;
  slope.seconds = std::max((many - one) / (count - 1), (many - std::min(request_alone, 0.5 * many)) / count);
  return std::nullopt;
}

}  // namespace kernelsearch::external
