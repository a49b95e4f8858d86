// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/runtime/settings.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;

TEST_CASE("Settings: values by name and type") {
  Settings settings;
  settings.values = {{"TILE", std::int64_t{8}},
                     {"FAST", true},
                     {"SCALE", 0.5},
                     {"TYPE", std::string("float4")},
                     {"ORDER", Permutation{1, 0}}};
  CHECK(settings.integer("TILE") == 8);
  CHECK(settings.boolean("FAST"));
  CHECK(settings.number("SCALE") == 0.5);
  CHECK(settings.number("TILE") == 8.0);
  CHECK(settings.number("FAST") == 1.0);
  CHECK(settings.text("TYPE") == "float4");
  CHECK(settings.order("ORDER") == Permutation{1, 0});
  CHECK(settings.find("NONE") == nullptr);
  CHECK_THROWS_WITH_AS((void)settings.integer("NONE"), doctest::Contains("NONE"), ConfigError);
  CHECK_THROWS_WITH_AS((void)settings.integer("FAST"), doctest::Contains("FAST is bool, wanted int"),
                       ConfigError);
  CHECK_THROWS_AS((void)settings.number("TYPE"), ConfigError);
  CHECK_THROWS_AS((void)settings.boolean("TILE"), ConfigError);
  CHECK_THROWS_AS((void)settings.order("TILE"), ConfigError);
}
