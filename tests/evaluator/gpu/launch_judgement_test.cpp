// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/launch_judgement.hpp"

#include <doctest/doctest.h>

#include "support/approx.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail::gpu;
using kernelsearch::test::approx;

TEST_CASE("judge_launches: events may be a quarter and some microseconds short, then they are charged") {
  const auto judged = [](double inside, double outside) {
    return judge_launches({.calls = 20, .inside = inside, .outside = outside, .empty = 0});
  };
  CHECK(judged(10e-3, 10e-3) == LaunchJudgement::agrees);
  CHECK(judged(10e-3, 9e-3) == LaunchJudgement::agrees);
  CHECK(judged(10e-3, 12.6e-3) ==
        LaunchJudgement::agrees);  // 12.5 ms, 0.1 ms for the calls and for the batch
  CHECK(judged(10e-3, 12.8e-3) == LaunchJudgement::charged);
  CHECK(judged(10e-3, 40e-3) == LaunchJudgement::charged);
  CHECK(judged(10e-3, 40.7e-3) == LaunchJudgement::cheated);
  // Of short ones the clock outside cannot tell so much: 5 us a call are allowed, 30 us are no proof.
  CHECK(judged(20e-6, 220e-6) == LaunchJudgement::agrees);
  CHECK(judged(20e-6, 240e-6) == LaunchJudgement::charged);
  CHECK(judged(20e-6, 650e-6) == LaunchJudgement::charged);
  CHECK(judged(20e-6, 700e-6) == LaunchJudgement::cheated);
}

TEST_CASE("judge_launches: what load explains is charged and never a lie") {
  LaunchTimes times{.calls = 10, .inside = 1e-3, .outside = 50e-3};
  CHECK(judge_launches(times) == LaunchJudgement::cheated);
  times.waited = 47e-3;  // for a core
  CHECK(judge_launches(times) == LaunchJudgement::charged);
  times.waited = 20e-3;
  CHECK(judge_launches(times) == LaunchJudgement::cheated);
  times.shared = true;  // by others on the device
  CHECK(judge_launches(times) == LaunchJudgement::charged);
  times = {.calls = 10, .inside = 1e-3, .outside = 15e-3, .waited = -1};  // unknown
  CHECK(judge_launches(times) == LaunchJudgement::charged);
  times.outside = 17e-3;
  CHECK(judge_launches(times) == LaunchJudgement::cheated);
}

TEST_CASE("judge_launches: waiting for a core excuses from a lie, not from being charged") {
  // Forged times on a busy machine: all of the batch, and more, was waited for by one or the other process.
  const LaunchTimes times{.calls = 10, .inside = 10e-9, .outside = 5e-3, .waited = 9e-3};
  CHECK(judge_launches(times) == LaunchJudgement::charged);
  CHECK(unexplained_seconds(times) == approx(5e-3));
}

TEST_CASE("judge_launches: what surrounds calls and was taken under load is half believed") {
  // Of 20 ms around ten calls, 10 ms too many were calibrated: nothing seems left of calls of a millisecond.
  LaunchTimes times{.calls = 10, .inside = 10e-9, .outside = 0.1e-3, .empty = 20e-3};
  CHECK(judge_launches(times) == LaunchJudgement::agrees);
  times.disturbed = true;
  CHECK(judge_launches(times) == LaunchJudgement::charged);
  CHECK(unexplained_seconds(times) == approx(10.1e-3));
  times.inside = 9e-3;  // what lasts long enough is not in doubt
  CHECK(judge_launches(times) == LaunchJudgement::agrees);
}

TEST_CASE("judge_launches: what is around the calls may take longer than when it was calibrated") {
  LaunchTimes times{.calls = 10, .inside = 1e-3, .outside = 1.6e-3, .empty = 4e-3};
  CHECK(unexplained_seconds(times) == approx(1.4e-3));
  CHECK(judge_launches(times) == LaunchJudgement::agrees);
  times.empty = 2e-3;
  CHECK(judge_launches(times) == LaunchJudgement::charged);
  times.outside = 6e-3;
  CHECK(judge_launches(times) == LaunchJudgement::cheated);
  times.empty = 4e-3;  // half of which is no proof
  CHECK(judge_launches(times) == LaunchJudgement::charged);
}

TEST_CASE("beyond_margin: less is better") {
  const LaunchTimes good{.calls = 10, .inside = 1e-3, .outside = 1e-3},
      bad{.calls = 10, .inside = 1e-3, .outside = 3e-3};
  CHECK(beyond_margin(good) < 0);
  CHECK(beyond_margin(bad) == approx(3e-3 - 1.25e-3 - 50e-6 - 100e-6));
}

TEST_CASE("least_seconds: operations, bytes from memory, and bytes at the speed of a cache") {
  GpuDevice device;
  device.backend = GpuBackend::cuda;
  device.major = 9;
  device.multiprocessors = 132;
  device.clock = 1980000;
  device.memory_clock = 3201000;
  device.bus_bits = 6144;
  device.l2 = 60 << 20;
  const double rate = 1e-6 * device.peak_bandwidth(),
               arithmetic = 1e-6 * device.peak_operations();  // a microsecond
  REQUIRE(rate > 1e6);
  REQUIRE(arithmetic > 0);
  const auto least = [&](const LeastWork& work, CacheMode cache) {
    return 1e6 * least_seconds(device, work, cache);
  };
  CHECK(least({}, CacheMode::cold) == 0);
  CHECK(least({.operations = 1e12}, CacheMode::warm) == approx(0.9 * 1e12 / arithmetic));
  // A gigabyte is read from memory; what was written may have stayed in the cache.
  CHECK(least({.bytes = 1e9}, CacheMode::cold) == approx(0.9 * 1e9 / rate));
  CHECK(least({.bytes = 1e9, .outputs = 1e9}, CacheMode::cold) == approx(0.9 * (1e9 - (60 << 20)) / rate));
  CHECK(least({.bytes = 1e9}, CacheMode::warm) == approx(0.9 * 1e9 / (8 * rate)));
  // Outputs alone, as of a problem that says nothing.
  CHECK(least({.bytes = 1e6, .outputs = 1e6}, CacheMode::cold) == approx(0.9 * 1e6 / (8 * rate)));
  // The largest of them counts.
  CHECK(least({.operations = 1e12, .bytes = 1}, CacheMode::cold) == approx(0.9 * 1e12 / arithmetic));
  device.bus_bits = device.clock = 0;  // a device that does not say
  CHECK(least_seconds(device, {.operations = 1e12, .bytes = 1e9}, CacheMode::cold) == 0);
}

TEST_CASE("UndisturbedTime: what load made longer is taken again until the least agree") {
  UndisturbedTime calm;
  CHECK(calm.seconds() == 0);
  for (const double seconds : {1.02e-3, 1.3e-3, 1.0e-3, 1.08e-3}) {
    calm.add(seconds);
    CHECK(!calm.is_settled());
  }
  calm.add(5e-3);
  CHECK(calm.is_settled());
  CHECK(!calm.is_disturbed());
  CHECK(calm.seconds() == approx(1.0e-3));

  // Beside busy processes most are disturbed, and two of them may be alike.
  UndisturbedTime loaded;
  for (int turn = 0; turn < 9; ++turn)
    for (const double seconds : {4.1e-3 + 1e-3 * turn, 4.2e-3 + 1e-3 * turn}) loaded.add(seconds);
  CHECK(!loaded.is_settled());
  loaded.add(1e-3);
  loaded.add(2e-3);
  CHECK(!loaded.is_settled());
  loaded.add(1.05e-3);
  CHECK(loaded.is_settled());
  CHECK(loaded.is_disturbed());
  CHECK(loaded.seconds() == approx(1e-3));

  UndisturbedTime small;  // a tenth of which is below what a clock tells
  for (const double seconds : {10e-6, 25e-6, 60e-6, 60e-6, 28e-6}) small.add(seconds);
  CHECK(small.is_settled());
}

TEST_CASE("take_undisturbed: what disturbs for a moment is no load, and no calm time hides a shorter one") {
  // Seconds in the order in which they are taken; the first of each try is left out.
  const auto taken_of = [](std::vector<double> values, std::size_t& taken) {
    UndisturbedTime time;
    taken = 0;
    const auto fault = take_undisturbed(time, [&](double& seconds) -> std::optional<detail::Fault> {
      seconds = values[std::min(taken++, values.size() - 1)];
      return std::nullopt;
    });
    REQUIRE(!fault);
    return time;
  };
  std::size_t taken = 0;
  const UndisturbedTime calm = taken_of({9e-3, 1e-3}, taken);
  CHECK(taken == 6);
  CHECK(!calm.is_disturbed());
  CHECK(calm.seconds() == approx(1e-3));

  // The first five differ, a sixth agrees; then all is calm.
  const UndisturbedTime moment =
      taken_of({9e-3, 1e-3, 2e-3, 3e-3, 4e-3, 1.05e-3, 1.02e-3, 9e-3, 1.01e-3}, taken);
  CHECK(taken == 7 + 6);
  CHECK(!moment.is_disturbed());
  CHECK(moment.seconds() == approx(1.01e-3));

  // Calm at twice of what it was: the shorter one stays, and that it was disturbed.
  const UndisturbedTime slower =
      taken_of({9e-3, 1e-3, 2e-3, 3e-3, 4e-3, 1.05e-3, 1.02e-3, 9e-3, 2e-3}, taken);
  CHECK(taken == 7 + 6 + 6);
  CHECK(slower.is_disturbed());
  CHECK(slower.seconds() == approx(1e-3));

  // Loaded all the while.
  UndisturbedTime loaded;
  double next = 1e-3;
  CHECK(!take_undisturbed(loaded, [&](double& seconds) -> std::optional<detail::Fault> {
    seconds = next *= 1.2;
    return std::nullopt;
  }));
  CHECK(loaded.is_disturbed());

  // What fails ends it.
  const auto fault = take_undisturbed(loaded, [](double&) -> std::optional<detail::Fault> {
    return detail::Fault{Verdict::crashed, "its process ended"};
  });
  REQUIRE(fault);
  CHECK(fault->reason == "its process ended");
}
