// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/model/roofline.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include "kernelsearch/core/rng.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {
Features profile(std::initializer_list<std::pair<const char*, double>> values) {
  Features features;
  for (const auto& [name, value] : values) features.set(name, value);
  return features;
}
RooflineGaps roofline_gaps(std::optional<double> compute, std::optional<double> memory,
                           std::optional<double> latency) {
  return {{compute, memory, latency}};
}
}  // namespace

TEST_CASE("roofline_gaps: what the profile lacks is unknown, not a gap") {
  CHECK(roofline_gaps({}) == RooflineGaps{});
  CHECK_FALSE(roofline_gaps({}).complete());
  const RooflineGaps some = roofline_gaps(profile({{"registers", 64}, {"l2_hit", 70}, {"ipc", 1.5}}));
  CHECK(some == RooflineGaps{});
}

TEST_CASE("roofline_gaps: the busiest unit is what computing is measured by") {
  for (const char* name : {"tensor_utilisation", "fp32_utilisation", "fp64_utilisation", "sm_utilisation",
                           "compute_utilisation"}) {
    CAPTURE(name);
    Features features = profile({{"tensor_utilisation", 5}, {"sm_utilisation", 3}});
    features.set(name, 75);
    CHECK(roofline_gaps(features)[Axis::compute].value() == approx(0.25));
  }
  // as in the post: computing at 8 % of its peak
  CHECK(roofline_gaps(profile({{"fp32_utilisation", 8}}))[Axis::compute].value() == approx(0.92));
}

TEST_CASE("roofline_gaps: main memory before any memory") {
  const Features both = profile({{"dram_utilisation", 43}, {"memory_utilisation", 90}});
  CHECK(roofline_gaps(both)[Axis::memory].value() == approx(0.57));
  CHECK(roofline_gaps(profile({{"memory_utilisation", 90}}))[Axis::memory].value() == approx(0.1));
}

TEST_CASE("roofline_gaps: waiting is the largest stall") {
  const RooflineGaps waiting =
      roofline_gaps(profile({{"stall_barrier", 12}, {"stall_long_scoreboard", 61}, {"stall_wait", 3}}));
  CHECK(waiting[Axis::latency].value() == approx(0.61));
  CHECK_FALSE(waiting[Axis::compute]);
  CHECK(roofline_gaps(profile({{"stalled", 61}, {"install_time", 3}})) == RooflineGaps{});
}

TEST_CASE("roofline_gaps: no axis has more left than the roof above the kernel") {
  // a stream at 90 % of its bandwidth computes next to nothing, and that is no gap
  const Features stream =
      profile({{"compute_utilisation", 2}, {"dram_utilisation", 90}, {"roof_utilisation", 90}});
  CHECK(roofline_gaps(stream)[Axis::memory].value() == approx(0.1));
  CHECK(roofline_gaps(stream)[Axis::compute].value() == approx(0.1));
  CHECK(bound_of(roofline_gaps(stream)) == Bound::near_peak);
  const Features product =
      profile({{"compute_utilisation", 30}, {"memory_utilisation", 1}, {"roof_utilisation", 30}});
  CHECK(roofline_gaps(product)[Axis::compute].value() == approx(0.7));
  CHECK(roofline_gaps(product)[Axis::memory].value() == approx(0.7));
  CHECK(bound_of(roofline_gaps(product)) == Bound::compute);
  CHECK(roofline_gaps(profile({{"dram_utilisation", 10}, {"roof_utilisation", 130}}))[Axis::memory] == 0.0);
  // it makes no gap where none was seen, nor one smaller that was
  CHECK(roofline_gaps(profile({{"roof_utilisation", 20}})) == RooflineGaps{});
  const RooflineGaps seen =
      roofline_gaps(profile({{"sm_utilisation", 80}, {"stall_wait", 50}, {"roof_utilisation", 60}}));
  CHECK(seen[Axis::compute].value() == approx(0.2));
  CHECK(seen[Axis::latency].value() == approx(0.4));  // half of the time, but 0.4 is all there is
  CHECK(roofline_gaps(profile({{"stall_wait", 50}, {"roof_utilisation", 20}}))[Axis::latency] == 0.5);
}

TEST_CASE("roofline_gaps: a busy pipe is no waiting") {
  const RooflineGaps busy = roofline_gaps(profile({{"stall_gmma", 60},
                                                   {"stall_math_pipe_throttle", 30},
                                                   {"stall_not_selected", 90},
                                                   {"stall_selected", 40},
                                                   {"stall_wait", 7}}));
  CHECK(busy[Axis::latency].value() == approx(0.07));
  // where only such reasons were counted nothing is known of waiting
  CHECK_FALSE(roofline_gaps(profile({{"stall_gmma", 60}}))[Axis::latency]);
  // queues of units are waiting, as published
  CHECK(roofline_gaps(profile({{"stall_mio_throttle", 30}, {"stall_wait", 7}}))[Axis::latency] == 0.3);
}

TEST_CASE("roofline_gaps: a kernel at its roof is near its peak, on whichever side it is") {
  // a product by wgmma at 96 % of the roof: its warps wait for the tensor cores, which are busy
  const Features product = profile({{"tensor_utilisation", 93},
                                    {"dram_utilisation", 21},
                                    {"stall_gmma", 61},
                                    {"stall_long_scoreboard", 24},
                                    {"roof_utilisation", 96}});
  CHECK(bound_of(roofline_gaps(product)) == Bound::near_peak);
  // The clock that peaks are told for is not the one under load: the pipes say how busy they are.
  Features slow_clock = product;
  slow_clock.set("roof_utilisation", 67);
  CHECK(bound_of(roofline_gaps(slow_clock)) == Bound::near_peak);
  slow_clock.set("tensor_utilisation", 50);
  CHECK(roofline_gaps(slow_clock)[Axis::memory].value() == approx(0.33));
  // a stream at 91 % of the bandwidth: its warps wait for memory, as they must
  const Features stream = profile({{"sm_utilisation", 14},
                                   {"dram_utilisation", 91},
                                   {"stall_long_scoreboard", 88},
                                   {"roof_utilisation", 91}});
  CHECK(bound_of(roofline_gaps(stream)) == Bound::near_peak);
  Features half = stream;
  half.set("roof_utilisation", 50);
  half.set("dram_utilisation", 50);
  CHECK(bound_of(roofline_gaps(half)) == Bound::bandwidth);
}

TEST_CASE("roofline_gaps: at the roof of counted work a host's kernel is near its peak without counters") {
  const Features near =
      profile({{"compute_utilisation", 22}, {"memory_utilisation", 89}, {"roof_utilisation", 89}});
  CHECK(roofline_gaps(near)[Axis::latency].value() == approx(0.11));
  CHECK(bound_of(roofline_gaps(near)) == Bound::near_peak);
  // farther away nothing is known of waiting, and a pipe that is busy says nothing of memory
  const Features far =
      profile({{"compute_utilisation", 22}, {"memory_utilisation", 84}, {"roof_utilisation", 84}});
  CHECK_FALSE(roofline_gaps(far)[Axis::latency]);
  CHECK(bound_of(roofline_gaps(far)) == Bound::bandwidth);
  CHECK_FALSE(roofline_gaps(profile({{"tensor_utilisation", 93}}))[Axis::memory]);
}

TEST_CASE("roofline_gaps: beyond the limits there is no gap, and what is no number is unknown") {
  const RooflineGaps beyond =
      roofline_gaps(profile({{"compute_utilisation", 130}, {"memory_utilisation", -1}, {"stall_wait", 250}}));
  CHECK(beyond == roofline_gaps(0.0, 1.0, 1.0));
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  CHECK(roofline_gaps(profile({{"compute_utilisation", nan}, {"dram_utilisation", inf}, {"stall_x", nan}})) ==
        RooflineGaps{});
  CHECK(roofline_gaps(profile({{"dram_utilisation", nan}, {"memory_utilisation", 50}}))[Axis::memory] == 0.5);
  CHECK(roofline_gaps(profile({{"fp32_utilisation", nan}, {"sm_utilisation", 50}}))[Axis::compute] == 0.5);
}

TEST_CASE("bound_of: near_peak only with evidence on all axes") {
  CHECK(bound_of(roofline_gaps(0.1, 0.149, 0.0)) == Bound::near_peak);
  CHECK(bound_of(roofline_gaps(0.1, 0.15, 0.0)) == Bound::bandwidth);
  CHECK(bound_of(roofline_gaps(0.1, 0.15, 0.0), 0.2) == Bound::near_peak);
  CHECK(bound_of(roofline_gaps(0.1, 0.1, {})) == Bound::compute);
  CHECK(bound_of(roofline_gaps({}, 0.0, {})) == Bound::bandwidth);
  CHECK(bound_of({}) == Bound::unknown);
  Rng rng(7);
  for (int i = 0; i < 2000; ++i) {
    RooflineGaps some;
    for (const Axis axis : all_axes)
      if (rng.below(3) != 0) some[axis] = rng.uniform() * 0.3;
    const Bound bound = bound_of(some);
    bool small = true;
    for (const Axis axis : all_axes) small = small && some[axis] && *some[axis] < 0.15;
    REQUIRE((bound == Bound::near_peak) == small);
  }
}

TEST_CASE("bound_of: the largest gap; of equals computing, then memory, then latency") {
  CHECK(bound_of(roofline_gaps(0.92, 0.57, 0.61)) == Bound::compute);  // the post, 1.3
  CHECK(bound_of(roofline_gaps(0.3, 0.57, 0.61)) == Bound::latency);
  CHECK(bound_of(roofline_gaps(0.3, 0.7, 0.61)) == Bound::bandwidth);
  CHECK(bound_of(roofline_gaps(0.5, 0.5, 0.5)) == Bound::compute);
  CHECK(bound_of(roofline_gaps(0.2, 0.5, 0.5)) == Bound::bandwidth);
  CHECK(bound_of(roofline_gaps({}, 0.5, 0.5)) == Bound::bandwidth);
  CHECK(to_string(Bound::bandwidth) == "bandwidth");
  CHECK(to_string(Axis::latency) == "latency");
}
