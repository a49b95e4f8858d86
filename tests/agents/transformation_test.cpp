// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/transformation.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("Transformation: calls and backends") {
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
