// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/stored_trial.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("StoredKernel: equal when all texts are") {
  const StoredKernel kernel{"d", "device", "host", "macros"};
  CHECK(kernel == StoredKernel{"d", "device", "host", "macros"});
  CHECK(kernel != StoredKernel{"d", "device", "host", ""});
  CHECK(StoredCandidate{}.values == "{}");
}
