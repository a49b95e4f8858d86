// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/virtual_clock.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

TEST_CASE("virtual clock: without builders everything happens in turn") {
  VirtualClock clock;
  CHECK(clock.add({1.0, 0.5, 0.25}) == 1.75);
  CHECK(clock.add({2.0, 0.0, 0.0}) == 3.75);
  CHECK(clock.seconds() == 3.75);
}

TEST_CASE("virtual clock: building overlaps measuring") {
  // One builder: the second is built while the first is measured.
  VirtualClock one({.builders = 1});
  CHECK(one.add({2.0, 0.0, 1.0}) == 3.0);
  CHECK(one.add({2.0, 0.0, 1.0}) == 5.0);  // built at 4
  CHECK(one.add({0.5, 0.0, 1.0}) == 6.0);  // built at 4.5, but the lane is taken until 5
  // Two builders: the lane waits for nobody.
  VirtualClock two({.builders = 2});
  CHECK(two.add({2.0, 0.0, 1.0}) == 3.0);
  CHECK(two.add({2.0, 0.0, 1.0}) == 4.0);
  CHECK(two.add({2.0, 0.0, 1.0}) == 5.0);
  CHECK(two.add({0.0, 0.0, 1.0}) == 6.0);
}

TEST_CASE("virtual clock: what may be under way limits what overlaps") {
  VirtualClock clock({.builders = 4, .in_flight = 1});
  CHECK(clock.add({2.0, 0.0, 1.0}) == 3.0);
  CHECK(clock.add({2.0, 0.0, 1.0}) == 6.0);
}

TEST_CASE("virtual clock: between the longest resource and doing everything in turn") {
  Rng rng(5);
  for (int round = 0; round < 200; ++round) {
    const std::size_t builders = 1 + rng.below(4);
    VirtualClock overlapped({.builders = builders}), more({.builders = builders + 1}), in_turn;
    double build = 0, run = 0, before = 0;
    for (int i = 0; i < 30; ++i) {
      const PhaseSeconds phases{rng.uniform(), rng.uniform() * 0.2, rng.uniform() * 0.5};
      const double known = overlapped.add(phases);
      more.add(phases);
      in_turn.add(phases);
      CHECK(known >= before);
      before = known;
      build += phases.build;
      run += phases.check + phases.measure;
    }
    CHECK(overlapped.seconds() >= std::max(build / static_cast<double>(builders), run));
    CHECK(overlapped.seconds() <= in_turn.seconds() + 1e-9);
    CHECK(more.seconds() <= overlapped.seconds() + 1e-9);
  }
}
