// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/transformation.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("Transformation: regions, calls and backends") {
  Regions regions{"d", "h", "m"};
  CHECK(text_of(regions, KernelRegion::device) == "d");
  CHECK(text_of(regions, KernelRegion::host) == "h");
  CHECK(text_of(regions, KernelRegion::macros) == "m");
  text_of(regions, KernelRegion::host) = "changed";
  CHECK(regions.host == "changed");
  CHECK(to_string(KernelRegion::device) == "device");
  CHECK(to_string(KernelRegion::host) == "host");
  CHECK(to_string(KernelRegion::macros) == "macros");
  Transformation t;
  CHECK(t.calls() == 0);
  CHECK(t.applies_to("anything"));
  t.backends = {"cuda", "hip"};
  CHECK(t.applies_to("hip"));
  CHECK_FALSE(t.applies_to("host"));
  t.passes = {{"a", {}, {{KernelRegion::device, "x"}, {KernelRegion::host, "y"}}},
              {"b", {}, {{KernelRegion::macros, "z"}}}};
  CHECK(t.calls() == 3);
}
