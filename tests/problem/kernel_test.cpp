// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/kernel.hpp"

#include <doctest/doctest.h>

#include <utility>

using namespace kernelsearch;

TEST_CASE("Kernel: without tunables it has one configuration") {
  const Kernel kernel;
  CHECK(kernel.space.size() == 0);
  CHECK(kernel.space.count() == BigCount(1));
  CHECK(kernel.space.contains(Config{}));
}

TEST_CASE("KernelRegion: names and texts") {
  Regions regions{"d", "h", "m"};
  CHECK(text_of(regions, KernelRegion::device) == "d");
  CHECK(text_of(regions, KernelRegion::host) == "h");
  CHECK(text_of(regions, KernelRegion::macros) == "m");
  text_of(regions, KernelRegion::host) = "changed";
  CHECK(regions.host == "changed");
  CHECK(text_of(std::as_const(regions), KernelRegion::host) == "changed");
  CHECK(to_string(KernelRegion::device) == "device");
  CHECK(to_string(KernelRegion::host) == "host");
  CHECK(to_string(KernelRegion::macros) == "macros");
  for (const KernelRegion region : kernel_regions) CHECK(kernel_region_from(to_string(region)) == region);
  for (const char* other : {"", "devices", "Device", "launch"}) CHECK_FALSE(kernel_region_from(other));
}

TEST_CASE("Regions: equal where all three texts are") {
  const Regions regions{"d", "h", "m"};
  CHECK(regions == Regions{"d", "h", "m"});
  CHECK(regions != Regions{"x", "h", "m"});
  CHECK(regions != Regions{"d", "x", "m"});
  CHECK(regions != Regions{"d", "h", "x"});
}
