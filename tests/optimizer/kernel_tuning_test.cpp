// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/optimizer/kernel_tuning.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/scripted_kernels.hpp"

using namespace kernelsearch;
using namespace scripted;

namespace {

/// A tuning of a kernel over `block_space()` with these points, by the key of their configurations.
KernelTuning tuning_with(const std::vector<std::pair<std::string, TunedPoint>>& points) {
  KernelTuning tuning{kernel_with({"tiling"}).kernel, {}, {}};
  const Space& space = tuning.kernel->space;
  for (const auto& [key, point] : points)
    space.for_each([&, &key = key, &point = point](const Config& config) {
      if (space.key(config) == key) tuning.points.push_back({config, point.verdict, point.seconds});
    });
  REQUIRE(tuning.points.size() == points.size());
  return tuning;
}

/// The scripted blocks up to 16, unrolled at most twice, with stages beside them.
Space other_space() {
  return SpaceBuilder()
      .add(Tunable::integer("unroll", 1, 2))
      .add(Tunable::power_of_two("block", 1, 16))
      .add(Tunable::integer("stages", 1, 3, 2))
      .build();
}

}  // namespace

TEST_CASE("KernelTuning: its points in another space, best first, failures last") {
  const KernelTuning tuning = tuning_with({{"4,1", {{}, Verdict::ok, 3.0}},
                                           {"8,1", {{}, Verdict::wrong_result, 0.0}},
                                           {"16,2", {{}, Verdict::ok, 1.0}},
                                           {"64,1", {{}, Verdict::ok, 0.5}},
                                           {"16,3", {{}, Verdict::ok, 0.7}},
                                           {"2,2", {{}, Verdict::ok, 2.0}}});
  const Space space = other_space();
  std::vector<std::string> keys;
  std::vector<double> seconds;
  for (const TunedPoint& point : points_in(tuning, space)) {
    keys.push_back(space.key(point.config));
    seconds.push_back(right(point) ? point.seconds : -1);
  }
  // Blocks of 64 and unrolling by 3 are not in it; the tunable that it adds has its default.
  CHECK(keys == std::vector<std::string>{"2,16,1", "2,2,1", "1,4,1", "1,8,1"});
  CHECK(seconds == std::vector<double>{1.0, 2.0, 3.0, -1});
}

TEST_CASE("KernelTuning: points that become the same elsewhere count once, with the better time") {
  KernelTuning tuning = tuning_with({{"16,1", {{}, Verdict::ok, 4.0}}, {"16,2", {{}, Verdict::ok, 3.0}}});
  const Space blocks = SpaceBuilder().add(Tunable::power_of_two("block", 1, 64)).build();
  const std::vector<TunedPoint> points = points_in(tuning, blocks);
  REQUIRE(points.size() == 1);
  CHECK(points[0].seconds == 3.0);
}

TEST_CASE("KernelTuning: as an earlier run failures are infinite") {
  const KernelTuning tuning = tuning_with({{"8,1", {{}, Verdict::launch_failed, 0.0}},
                                           {"4,1", {{}, Verdict::ok, 3.0}},
                                           {"2,2", {{}, Verdict::ok, 0.0}}});  // a time of 0 is none
  const EarlierRun run = earlier_run(tuning, tuning.kernel->space);
  REQUIRE(run.outcomes.size() == 3);
  CHECK(run.outcomes[0].objective == 3.0);
  CHECK(std::isinf(run.outcomes[1].objective));
  CHECK(std::isinf(run.outcomes[2].objective));
  CHECK_FALSE(run.source.empty());
}

TEST_CASE("KernelTuning: eight right points of the space say enough, seven do not") {
  KernelTuning tuning{kernel_with({"tiling"}).kernel, {}, {}};
  const Space& space = tuning.kernel->space;
  space.for_each([&](const Config& config) {
    const bool ok = tuning.points.size() % 2 == 0;
    if (tuning.points.size() < 15)
      tuning.points.push_back({config, ok ? Verdict::ok : Verdict::wrong_result, 1.0});
  });
  REQUIRE(tuning.points.size() == 15);
  CHECK(says_enough(tuning, space));
  tuning.points.back().verdict = Verdict::crashed;
  CHECK_FALSE(says_enough(tuning, space));
  tuning.points.back().verdict = Verdict::ok;
  CHECK_FALSE(says_enough(tuning, other_space()));  // fewer of them are in it
}
