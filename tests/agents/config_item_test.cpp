// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/config_item.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/policy_contract.hpp"

using namespace kernelsearch;

namespace {

Space item_space() {
  return SpaceBuilder()
      .add(Tunable::power_of_two("block", 16, 256).with_default(std::int64_t{64}))
      .add(Tunable::integer("unroll", 1, 6))
      .add(Tunable::boolean("pad"))
      .add(Tunable::categorical("layout", std::vector<std::string>{"row", "column", "tiled"}))
      .add(Tunable::permutation("order", 3))
      .require("block * unroll <= 512")
      .build();
}

std::string key(const std::string& json) {
  const Space s = item_space();
  const auto item = read_config_item(s, json);
  return item ? s.key(item->config) : "none";
}

}  // namespace

TEST_CASE("read_config_item: sparse over the default") {
  CHECK(key("{}") == "64,1,false,row,[0, 1, 2]");
  CHECK(key(R"({"unroll":3,"pad":true})") == "64,3,true,row,[0, 1, 2]");
  CHECK(key(R"({"layout":"tiled","order":[2,0,1]})") == "64,1,false,tiled,[2, 0, 1]");
  CHECK(key(R"({"config":{"block":128}})") == "128,1,false,row,[0, 1, 2]");
  CHECK(key(R"({"block":null,"pad":true})") == "64,1,true,row,[0, 1, 2]");
}

TEST_CASE("read_config_item: values are repaired") {
  const Space s = item_space();
  CHECK(key(R"({"block":"128"})") == "128,1,false,row,[0, 1, 2]");
  CHECK(key(R"({"BLOCK":[128],"Layout":"Tiled","pad":1})") == "128,1,true,tiled,[0, 1, 2]");
  // by ratio: 90 is nearer to 64 than to 128 by difference, and by ratio (1.41 against 1.42)
  CHECK(key(R"({"block":100})") == "128,1,false,row,[0, 1, 2]");
  CHECK(key(R"({"block":1000000,"unroll":-5})") == "256,1,false,row,[0, 1, 2]");
  const auto item =
      read_config_item(s, R"({"block":100,"unroll":2,"nonsense":3,"order":[0,0,0],"layout":"diagonal"})");
  REQUIRE(item);
  CHECK(item->understood == 2);
  CHECK(item->repaired == 1);
  CHECK(item->ignored == 3);
  CHECK_FALSE(item->moved);
}

TEST_CASE("read_config_item: a broken constraint gives the nearest valid configuration") {
  const Space s = item_space();
  const auto item = read_config_item(s, R"({"block":256,"unroll":6,"pad":true})");
  REQUIRE(item);
  CHECK(item->moved);
  CHECK(s.contains(item->config));
  CHECK(item->config ==
        s.nearest(*s.config_of(std::vector<Value>{std::int64_t{256}, std::int64_t{6}, true,
                                                  std::string("row"), Permutation{0, 1, 2}})));
  CHECK(to_number(s.value(item->config, 2)) == 1.0);
}

TEST_CASE("read_config_item: what is no configuration") {
  for (const char* text : {"[]", "3", "null", "", "{", R"({"nonsense":1})", R"({"layout":"diagonal"})",
                           R"({"block":[1,2]})", R"({"block":{"a":1}})", R"({"block":1e999})"})
    CHECK_MESSAGE(key(text) == "none", text);
}
