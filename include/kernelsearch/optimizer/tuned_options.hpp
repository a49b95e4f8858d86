// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernelsearch/core/objectives.hpp"
#include "kernelsearch/evaluator/judging_options.hpp"

namespace kernelsearch {

struct TunedOptions {
  std::uint64_t max_trials = 100;  ///< inner trials of one kernel, further limited by the shared budget
  std::uint64_t seed = 0;
  std::size_t carried = 3;      ///< the best of each parent that are tried after the kernel's default
  std::uint64_t hopeless = 16;  ///< a kernel is given up after that many of which none was right; 0: never
  /// Candidates built at a time, while others are measured. 0: inner trials follow one another on an
  /// evaluator of one lane; one of several lanes has as many builders as lanes.
  std::size_t builders = 0;
  /// How the best of a kernel is timed next to the best of the one that it was made from, once its search is
  /// over: features as of `PairedWithParent`. Nothing: it is not.
  std::optional<PairOptions> pairs = {};
  Objectives objectives = {};  ///< of the search over the tunables of each kernel
};

}  // namespace kernelsearch
