// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/declared_tunables.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/space/space_builder.hpp"

using namespace kernelsearch;

namespace {

DeclaredTunables read_declared(std::string_view json) {
  return read_declared_tunables(json, "reply");
}

Space base() {
  return SpaceBuilder()
      .add(Tunable::power_of_two("BLOCK", 16, 64))
      .add(Tunable::boolean("PAD").when("BLOCK > 16"))
      .require("BLOCK != 32")
      .build();
}

}  // namespace

TEST_CASE("read_declared_tunables: lists, ranges, defaults and constraints") {
  const DeclaredTunables declared = read_declared(
      R"({"tunables": {"TILE_K": [8, 16], "STAGES": {"range": [1, 4], "default": 2}}, "constraints": ["TILE_K * STAGES <= 32"]})");
  REQUIRE(declared.tunables.size() == 2);
  CHECK(declared.tunables[0].name == "TILE_K");
  CHECK(declared.tunables[0].kind == TunableKind::power_of_two);
  CHECK(declared.tunables[1].values.size() == 3);
  CHECK(declared.tunables[1].default_index == 1);
  CHECK(declared.constraints == std::vector<std::string>{"TILE_K * STAGES <= 32"});
  CHECK(read_declared("{}").empty());
}

TEST_CASE("read_declared_tunables: refusals say what to do") {
  const auto refused = [](std::string_view json, std::string_view words) {
    try {
      (void)read_declared(json);
    } catch (const ConfigError& error) {
      CHECK_MESSAGE(std::string_view(error.what()).find(words) != std::string_view::npos, error.what());
      return;
    }
    FAIL_CHECK("not refused: " << json);
  };
  refused("[]", "write {\"tunables\"");
  refused("{", "reply:1");
  refused(R"({"tunables": {"int": [1]}})", "use capitals");
  refused(R"({"tunables": {"A B": [1]}})", "use capitals");
  refused(R"({"tunables": {"A": []}})", "has no value");
  refused(R"({"tunables": {"A": [1, 1]}})", "lists a value twice");
  refused(R"({"tunables": {"A": [1, "x"]}})", "mixes kinds");
  refused(R"({"tunables": {"A": ["x\ny"]}})", "control character");
  refused(R"({"tunables": {"A": {"values": [1, 2], "default": 3}}})", "is not one of the values");
  refused(R"({"tunables": {"A": {"range": [0, 1000]}}})", "at most 64");
  refused(R"({"constraints": ["A <="]})", "is not an expression");
  refused(R"({"other": 1})", "other");
  std::string many = R"({"tunables": {"A": [1])";
  for (char c = 'B'; c < 'K'; ++c) many += std::string(",\"") + c + "\": [1]";
  refused(many + "}}", "too many tunables");
}

TEST_CASE("kernel_with_declared: the space is in the text") {
  const Kernel plain = kernel_with_declared(base(), {"code", "", "#define X 1\n"});
  CHECK(plain.space.size() == 2);
  DeclaredTunables declared = read_declared(
      R"({"tunables": {"TILE": {"values": [1, 2, 4], "default": 2}}, "constraints": ["TILE * BLOCK <= 128"]})");
  declared.defaults = {{"BLOCK", std::int64_t{64}}, {"NOT_THERE", true}};
  const std::string line = declaration_line(declared);
  CHECK(line ==
        "//@tunables {\"tunables\":{\"TILE\":{\"values\":[1,2,4],\"default\":2}},\"constraints\":[\"TILE * "
        "BLOCK <= 128\"],"
        "\"default\":{\"BLOCK\":64,\"NOT_THERE\":true}}\n");
  const Kernel kernel = kernel_with_declared(base(), {"code", "", line + "#define X 1\n"});
  REQUIRE(kernel.space.size() == 3);
  CHECK(kernel.space.key(kernel.space.default_config()) == "64,false,2");
  CHECK(kernel.space.constraints().size() == 2);
  CHECK(kernel.space.count() ==
        BigCount(7));  // by hand: BLOCK 16 without PAD 3, BLOCK 64 with either PAD 2 each
  CHECK_FALSE(kernel.space.contains(
      *kernel.space.config_of(std::vector<Value>{std::int64_t{64}, false, std::int64_t{4}})));
  CHECK(kernel.space.contains(
      *kernel.space.config_of(std::vector<Value>{std::int64_t{16}, false, std::int64_t{4}})));
  CHECK(kernel.regions.macros == line + "#define X 1\n");
  CHECK(without_declarations(kernel.regions.macros) == "#define X 1\n");
  const DeclaredTunables again = declarations_of(kernel.regions.macros);
  CHECK(declaration_line(again) == line);
  CHECK(declaration_line({}).empty());
  CHECK_THROWS_AS(
      (void)kernel_with_declared(base(), {"", "", "//@tunables {\"tunables\":{\"BLOCK\":[1]}}\n"}),
      ConfigError);
  CHECK_THROWS_AS((void)kernel_with_declared(base(), {"", "", "//@tunables nonsense\n"}), ConfigError);
}
