// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/features.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("Features: what was set is found, what was not is unknown") {
  Features features;
  CHECK(features.empty());
  features.set("spills", 0.0);
  features.set("registers", 64.0);
  CHECK(features.find("registers") == 64.0);
  CHECK(features.find("spills") == 0.0);
  CHECK_FALSE(features.find("occupancy").has_value());
  CHECK_FALSE(features.find("zzz").has_value());
  features.set("registers", 32.0);
  CHECK(features.find("registers") == 32.0);
  CHECK(features.size() == 2);
  CHECK_FALSE(features.empty());
}

TEST_CASE("Features: order of setting does not show") {
  Features one, other;
  for (const char* name : {"c", "a", "b"}) one.set(name, 1.0);
  for (const char* name : {"b", "c", "a"}) other.set(name, 1.0);
  CHECK(one == other);
  std::string names;
  for (const auto& [name, value] : one) names += name;
  CHECK(names == "abc");
  other.set("a", 2.0);
  CHECK_FALSE(one == other);
}
