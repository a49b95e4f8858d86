// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/tunable_header.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/space/space_builder.hpp"
#include "support/small_kernel.hpp"

using namespace kernelsearch;

namespace {

const Regions code{"int f() { return TILE * WIDTH; }", "", ""};

DeclaredSpace declared(const std::string& json) {
  return declare_tunables(small_kernel()->space, json, code);
}

}  // namespace

TEST_CASE("tunable header: new tunables join the kernel's own, with constraints over both") {
  const auto result = declared(
      R"({"tunables": {"WIDTH": {"values": [1, 2, 4], "default": 2}}, "constraints": ["TILE * WIDTH <= 32"]})");
  REQUIRE_MESSAGE(result.judgement.ok(), result.judgement.detail);
  const Space& space = *result.space;
  CHECK(space.size() == 4);
  REQUIRE(space.find("WIDTH").has_value());
  CHECK(to_string(space.value(space.default_config(), *space.find("WIDTH"))) == "2");
  CHECK(space.constraints().size() == 2);
  // one that is there gets other values
  const auto again = declared(R"({"tunables": {"TILE": [2, 4]}})");
  REQUIRE(again.judgement.ok());
  CHECK(again.space->size() == 3);
  CHECK(again.space->tunable(0).values.size() == 2);
}

TEST_CASE("tunable header: a configuration is carried over by name and value") {
  const auto kernel = small_kernel();
  Config config = kernel->space.default_config();
  config.indices[0] = 1;  // TILE = 8
  const auto result = declared(R"({"tunables": {"WIDTH": [1, 2]}})");
  REQUIRE(result.judgement.ok());
  const Config carried = carried_over(kernel->space, config, *result.space);
  CHECK(result.space->contains(carried));
  CHECK(to_string(result.space->value(carried, 0)) == "8");
  const auto smaller = declared(R"({"tunables": {"TILE": [2, 4]}})");
  CHECK(smaller.space->contains(carried_over(kernel->space, config, *smaller.space)));
}

TEST_CASE("tunable header: what makes no space is a fault in words") {
  for (const char* json :
       {"", "{", "[]", "{}", R"({"tunables": {"WIDTH": []}})", R"({"tunables": {"OTHER": [1, 2]}})",
        R"({"tunables": {"WIDTH": [1, 2]}, "constraints": ["WIDTH > 9"]})",
        R"({"tunables": {"WIDTH": [1, 2]}, "constraints": ["NOTHING > 9"]})",
        R"({"tunables": {"WIDTH": {"values": [1, 2], "default": 3}}})", R"({"tunables": {"WIDTH": [1, 1]}})",
        R"({"tunables": {"WIDTH": [1, "a"]}})", R"({"tunables": {"bad name": [1]}})", R"({"tunabels": {}})",
        R"({"tunables": {"WIDTH": {"range": [0, 1000]}}})",
        R"({"tunables": {"WIDTH": {"values": [1], "if": "X"}}})"}) {
    CAPTURE(json);
    const auto result = declared(json);
    CHECK(result.judgement.fault == ReplyFault::bad_tunables);
    CHECK(!result.judgement.detail.empty());
    CHECK(!result.space.has_value());
  }
}
