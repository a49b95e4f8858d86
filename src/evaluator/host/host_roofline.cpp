// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_roofline.hpp"

#include <algorithm>

namespace kernelsearch {

CountedRoofline host_roofline(const HostEvaluator& evaluator) {
  const HostOptions& options = evaluator.options();
  CountedOptions counted;
  counted.cold = options.cache == CacheMode::cold;
  // Samples last a hundred readings of the clock at least (src/evaluator/host/host_judge.cpp), of some 30 ns
  // each.
  counted.sample_seconds = 3e-6;
  return {evaluator.problem(),
          host_peaks({.threads = std::max(1, evaluator.problem().threads),
                      .core = options.core,
                      .cache_directory = options.cache_directory}),
          counted};
}

}  // namespace kernelsearch
