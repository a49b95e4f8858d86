// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/remote/sort_lanes.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "remote/workers.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;
using support::CarriedWords;
using support::small_problem;
using support::Workers;

namespace {

/// The lanes of a class that measure, by number.
std::string lanes_in(const LaneClass& one) {
  std::string numbers;
  for (const std::string& name : one.names) numbers += name.substr(5, 1);
  return numbers;
}

}  // namespace

TEST_CASE(
    "sort_lanes: of a class are the same device and times that are close; others are left out with reasons") {
  Workers workers;
  workers.judge = [](std::size_t lane) {
    CarriedWords words;
    if (lane == 1) words.device = "another device";
    if (lane == 3) words.slower = 1.5;
    if (lane == 4) words.slower = 1.01;
    if (lane == 5) words.broken = true;
    return words;
  };
  workers.instead = [](std::size_t lane, int) { return lane == 6; };  // it ends at once
  RemoteOptions options = workers.options(8);
  options.vain_starts = 1;
  options.settle_seconds = 0;
  options.lanes[7].builds_only = true;
  options.lanes[7].name = "a builder";
  const SortedLanes sorted = sort_lanes(small_problem(), options);
  REQUIRE(sorted.classes.size() == 3);
  CHECK(lanes_in(sorted.classes[0]) == "024");
  CHECK(sorted.classes[0].device_id == "a scripted device");
  CHECK(sorted.classes[0].toolchain_id == "a scripted compiler 1.0");
  CHECK(lanes_in(sorted.classes[1]) == "1");
  CHECK(sorted.classes[1].device_id == "another device");
  CHECK(lanes_in(sorted.classes[2]) == "3");
  CHECK(sorted.classes[2].seconds == approx(1.5 * sorted.classes[0].seconds));
  // The builder belongs to all, and measures in none.
  CHECK(sorted.classes[0].lanes.size() == 4);
  for (const LaneClass& one : sorted.classes) CHECK(one.lanes.back().name == "a builder");
  CHECK(workers.counts(7).started == 0);
  REQUIRE(sorted.left_out.size() == 2);
  CHECK(sorted.left_out[0].find("lane 5 (worker)") == 0);
  CHECK(sorted.left_out[0].find("fails on the default configuration, which is right on another one") !=
        std::string::npos);
  CHECK(sorted.left_out[1].find("lane 6 (worker): ") == 0);
  CHECK(sorted.left_out[1].find("ended before it was ready") != std::string::npos);
  CHECK(workers.counts(0).runs == 5);  // the best of so many counts
}

TEST_CASE("sort_lanes: without a tolerance times are not compared") {
  Workers workers;
  workers.judge = [](std::size_t lane) {
    CarriedWords words;
    if (lane == 1) words.slower = 7;
    return words;
  };
  RemoteOptions options = workers.options(2);
  options.tolerance = 0;
  const SortedLanes sorted = sort_lanes(small_problem(), options);
  REQUIRE(sorted.classes.size() == 1);
  CHECK(lanes_in(sorted.classes[0]) == "01");
  CHECK(sorted.left_out.empty());
}

TEST_CASE(
    "sort_lanes: where the default configuration fails everywhere that is one class, and no lane's fault") {
  Workers workers;
  workers.judge = [](std::size_t) {
    CarriedWords words;
    words.broken = true;
    return words;
  };
  const SortedLanes sorted = sort_lanes(small_problem(), workers.options(2));
  REQUIRE(sorted.classes.size() == 1);
  CHECK(lanes_in(sorted.classes[0]) == "01");
  CHECK(sorted.classes[0].seconds == 0);
}

TEST_CASE("sort_lanes: the reasons of all are told where no worker is ready") {
  Workers workers;
  workers.instead = [](std::size_t, int) { return true; };
  RemoteOptions options = workers.options(2);
  options.vain_starts = 1;
  CHECK_THROWS_WITH_AS((void)sort_lanes(small_problem(), options), doctest::Contains("lane 1 (worker): "),
                       DeviceError);
}
