// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/device_identity.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <string>

using namespace kernelsearch;

TEST_CASE("device_identity: without the cores, governors and drivers that spellings of 0.1 have") {
  CHECK(device_identity("AMD EPYC") == "AMD EPYC");
  CHECK(device_identity("AMD EPYC, 2 cores") == "AMD EPYC");
  CHECK(device_identity("AMD EPYC, 1 core") == "AMD EPYC");
  CHECK(device_identity("AMD EPYC, 128 cores, governor schedutil") == "AMD EPYC");
  CHECK(device_identity("NVIDIA H200 sm_90, driver 13000") == "NVIDIA H200 sm_90");
  CHECK(device_identity("trailing blank   , 2 cores") == "trailing blank");
  // Only what says how a run had the device goes; names may have commas.
  CHECK(device_identity("Maker, Model 2, 4 cores") == "Maker, Model 2");
  CHECK(device_identity("Maker, two cores") == "Maker, two cores");
  CHECK(device_identity("Maker, 4 cores of 8") == "Maker, 4 cores of 8");
  CHECK(device_identity("Maker,2 cores") == "Maker,2 cores");
  CHECK(device_identity(", 2 cores") == ", 2 cores");
  CHECK(device_identity("").empty());
}

TEST_CASE("same_device: old spellings match, other models do not") {
  CHECK(same_device("AMD EPYC, 2 cores", "AMD EPYC"));
  CHECK(same_device("AMD EPYC, 2 cores", "AMD EPYC, 1 core, governor powersave"));
  CHECK_FALSE(same_device("AMD EPYC 7B13", "AMD EPYC"));
  CHECK_FALSE(same_device("AMD EPYC, 2 cores", ""));
}

TEST_CASE("processor_identity: one line, never empty, and the same whichever cores may be used") {
  const std::string name = processor_identity();
  CHECK_FALSE(name.empty());
  CHECK(name.find('\n') == std::string::npos);
  CHECK(device_identity(name) == name);
  cpu_set_t all, one;
  CPU_ZERO(&all);
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  CPU_ZERO(&one);
  for (std::size_t core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &all)) CPU_SET(core, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(processor_identity() == name);
  REQUIRE(sched_setaffinity(0, sizeof all, &all) == 0);
}
