// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/space_text.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/space/space_builder.hpp"

using namespace kernelsearch;

TEST_CASE("space_text: every kind of tunable, constraints and the count") {
  const std::vector<std::int64_t> sizes{3, 5, 9};
  const std::vector<double> shares{0.25, 0.5};
  const Space space = SpaceBuilder()
                          .add(Tunable::power_of_two("block", 16, 256).with_default(std::int64_t{64}))
                          .add(Tunable::integer("unroll", 2, 10, 2))
                          .add(Tunable::integer("depth", 1, 4).when("pad"))
                          .add(Tunable::integers("size", sizes))
                          .add(Tunable::floating("share", shares))
                          .add(Tunable::boolean("pad"))
                          .add(Tunable::categorical("layout", std::vector<std::string>{"row", "co\"l"}))
                          .add(Tunable::permutation("order", 3))
                          .require("block * unroll <= 512")
                          .require(
                              {"size"}, [](std::span<const Value> v) { return to_number(v[0]) > 3; }, "big")
                          .build();
  const std::string text = space_text(space);
  CHECK(text ==
        "- block (power_of_two): powers of two from 16 to 256; default 64\n"
        "- unroll (integer): 2 to 10 by 2; default 2\n"
        "- depth (integer): 1 to 4; default 1; has an effect only if pad\n"
        "- size (integer): 3, 5, 9; default 5\n"
        "- share (floating): 0.25, 0.5; default 0.25\n"
        "- pad (boolean): false or true; default false\n"
        "- layout (categorical): one of \"row\", \"co\\\"l\"; default \"row\"\n"
        "- order (permutation): [0,1,2], [0,2,1], [1,0,2], [1,2,0], [2,0,1], [2,1,0]; default [0,1,2]\n"
        "Constraints, all of which must hold:\n"
        "- block * unroll <= 512\n"
        "- big (of size)\n" +
            text.substr(text.find("- depth is active", 0) == std::string::npos
                            ? text.find("Valid")
                            : text.find("- depth is active")));
  CHECK(text.find("Valid configurations: " + space.count().to_string() + "\n") != std::string::npos);
}

TEST_CASE("space_text: long lists show their ends") {
  std::vector<std::int64_t> odd;
  for (std::int64_t i = 0; i < 40; ++i) odd.push_back(i * i);
  const Space space = SpaceBuilder().add(Tunable::integers("n", odd)).build();
  const std::string text = space_text(space, {.max_values = 6});
  CHECK(text.find("0, 1, 4, 9, ..., 1444, 1521 (40 values)") != std::string::npos);
}

TEST_CASE("config_text and config_difference") {
  const Space space = SpaceBuilder()
                          .add(Tunable::integer("a", 1, 3))
                          .add(Tunable::boolean("b"))
                          .add(Tunable::permutation("p", 2))
                          .build();
  CHECK(config_text(space, space.default_config()) == R"({"a":1,"b":false,"p":[0,1]})");
  CHECK(config_difference(space, Config{{2, 0, 1}}, space.default_config()) == R"({"a":3,"p":[1,0]})");
  CHECK(config_difference(space, space.default_config(), space.default_config()) == "{}");
}

TEST_CASE("json_text: a value as it is written, an empty text too") {
  CHECK(json_text(Value{std::string()}) == "\"\"");
  CHECK(json_text(Value{std::int64_t{16}}) == "16");
  CHECK(json_text(Value{true}) == "true");
}

TEST_CASE("config_schema: every tunable of a real problem with its values, and null for its default") {
  const Problem problem = read_problem(KERNELSEARCH_SOURCE_DIR "/examples/host/matmul");
  const Space& space = problem.kernel.space;
  const auto schema = nlohmann::json::parse(config_schema(space));
  const auto& item = schema["properties"]["configs"]["items"];
  CHECK(schema["additionalProperties"] == false);
  CHECK(item["additionalProperties"] == false);
  CHECK(item["required"].size() == space.size());
  CHECK(item["properties"].size() == space.size());
  CHECK(item["properties"]["VECTOR_WIDTH"] ==
        nlohmann::json::parse(R"({"type": ["null", "integer"], "enum": [4, 8, 16, null]})"));
  CHECK(item["properties"]["PACK_A"]["enum"] == nlohmann::json::parse("[false, true, null]"));
  CHECK(item["properties"]["FLAGS"]["enum"][0] == "");
  CHECK(item["properties"]["LOOP_ORDER"]["items"]["type"] == "integer");
  CHECK_FALSE(item["properties"]["LOOP_ORDER"].contains("enum"));
  // More than providers take: no schema rather than a question that is refused.
  SpaceBuilder large;
  large.add(Tunable::integer("n", 1, 501));
  CHECK(config_schema(large.build()).empty());
}
