// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/gpu_roofline.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

TEST_CASE("gpu_peaks: an H100 SXM as its maker says") {
  GpuDevice device;
  device.name = "H100";
  device.major = 9;
  device.multiprocessors = 132;
  device.clock = 1830000;
  device.memory_clock = 2619000;
  device.bus_bits = 5120;
  device.l2 = std::int64_t{50} << 20;
  const DevicePeaks peaks = gpu_peaks(device);
  CHECK(*peaks.f16 == approx(989e12).epsilon(0.01));
  CHECK(*peaks.f32 == approx(66.9e12).epsilon(0.1));  // quoted at the highest clock
  CHECK(*peaks.f64 == approx(33.5e12).epsilon(0.1));
  REQUIRE(peaks.levels.size() == 2);
  CHECK(peaks.levels[0].bytes == 52428800.0);
  CHECK_FALSE(peaks.levels[0].bandwidth);
  CHECK(*peaks.levels[1].bandwidth == approx(3.35e12).epsilon(0.01));
  CHECK(std::isinf(peaks.levels[1].bytes));
}

TEST_CASE("gpu_peaks: an RTX 4090, and matrices of 16 bits no faster than they are") {
  GpuDevice device;
  device.major = 8;
  device.minor = 9;
  device.multiprocessors = 128;
  device.clock = 2520000;
  CHECK(*gpu_peaks(device).f16 == approx(330e12).epsilon(0.01));
  CHECK(*gpu_peaks(device).f32 == approx(82.6e12).epsilon(0.01));
}

TEST_CASE("gpu_peaks: what is not known is empty") {
  GpuDevice device;
  const DevicePeaks none = gpu_peaks(device);
  CHECK_FALSE((none.f16 || none.f32 || none.f64));
  REQUIRE(none.levels.size() == 1);
  CHECK_FALSE(none.levels[0].bandwidth);
  device.major = 42;
  device.multiprocessors = 100;
  device.clock = 1000000;
  CHECK_FALSE(gpu_peaks(device).f32);
  device.backend = GpuBackend::hip;
  device.major = 9;
  device.minor = 4;
  CHECK(*gpu_peaks(device).f64 == approx(1e9 * 100 * 128));
  device.major = 11;
  CHECK_FALSE(gpu_peaks(device).f32);
}
