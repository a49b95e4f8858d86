// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/system_registry.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace scripted;

TEST_CASE("system registry: sorted, findable, with the nearest name for a slip") {
  std::string before;
  for (const SystemEntry& entry : system_entries()) {
    CHECK(before < entry.name);
    before = entry.name;
    CHECK(find_system(entry.name).summary == entry.summary);
    CHECK_FALSE(entry.budget.empty());
  }
  CHECK(find_system("stark").rewrites);
  CHECK_FALSE(find_system("helion_lfbo").asks);
  CHECK_THROWS_WITH_AS((void)find_system("peek"), doctest::Contains("did you mean peak?"), ConfigError);
}
