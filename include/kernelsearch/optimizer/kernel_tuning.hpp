// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/core/verdict.hpp"
#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/space/carried_over.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// What tuning a kernel found of one configuration.
struct TunedPoint {
  Config config;
  Verdict verdict = Verdict::ok;
  double seconds = 0.0;  ///< meaningful when ok
};

/// What the search over one kernel's tunables measured: where a search over those of its children starts.
struct KernelTuning {
  std::shared_ptr<const Kernel> kernel;
  std::vector<TunedPoint> points;  ///< in the order of the trials
  Evaluation outcome;              ///< that of the whole
};

/// Whether it was right, with a time.
[[nodiscard]] inline bool right(const TunedPoint& point) {
  return point.verdict == Verdict::ok && point.seconds > 0 && std::isfinite(point.seconds);
}

/// The tuning's points that are configurations of `space` too, best first and failures last; of those that
/// become the same there, the best.
[[nodiscard]] inline std::vector<TunedPoint> points_in(const KernelTuning& tuning, const Space& space) {
  std::vector<TunedPoint> all = tuning.points;
  std::stable_sort(all.begin(), all.end(), [](const TunedPoint& a, const TunedPoint& b) {
    return right(a) && (!right(b) || a.seconds < b.seconds);
  });
  std::unordered_set<Config> seen;
  std::vector<TunedPoint> points;
  for (TunedPoint& point : all) {
    std::optional<Config> config = same_config(tuning.kernel->space, point.config, space);
    if (!config || !seen.insert(*config).second) continue;
    point.config = *std::move(config);
    points.push_back(std::move(point));
  }
  return points;
}

/// The same as a run of `space` that a policy learns from.
[[nodiscard]] inline EarlierRun earlier_run(const KernelTuning& tuning, const Space& space) {
  EarlierRun run{"a tuning of a kernel like it", {}};
  for (TunedPoint& point : points_in(tuning, space))
    run.outcomes.push_back(
        {std::move(point.config), right(point) ? point.seconds : std::numeric_limits<double>::infinity()});
  return run;
}

/// Whether what was right of it in `space` is enough to learn from.
[[nodiscard]] inline bool says_enough(const KernelTuning& tuning, const Space& space) {
  const std::vector<TunedPoint> points = points_in(tuning, space);
  return points.size() >= fewest_earlier && right(points[fewest_earlier - 1]);
}

/// Tunings of a kernel of this text from elsewhere, such as earlier runs on the same device.
using TuningLookup = std::function<std::vector<std::shared_ptr<const KernelTuning>>(const Kernel&)>;

}  // namespace kernelsearch
