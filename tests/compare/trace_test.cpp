// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/trace.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("Trace: what is not known is absent, not zero") {
  const Trace trace{"space", "random", 3};
  CHECK(trace.repeat == 3);
  CHECK_FALSE(trace.cap);
  CHECK_FALSE(trace.policy_seconds);
  CHECK(trace.seconds.empty());
}
