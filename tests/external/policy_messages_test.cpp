// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "external/policy_messages.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/external/policy_contract.hpp"
#include "kernelsearch/space/space_builder.hpp"

using namespace kernelsearch;
using namespace kernelsearch::external;
using nlohmann::json;

namespace {

Space every_kind() {
  return SpaceBuilder()
      .add(Tunable::integer("i", -2, 2))
      .add(Tunable::floating("f", std::vector<double>{0.1, 2.0}))
      .add(Tunable::boolean("b"))
      .add(Tunable::categorical("c", std::vector<std::string>{"a\"b", "\xC3\xA4"}))
      .add(Tunable::permutation("order", 3))
      .add(Tunable::integer("only_if", 0, 3).when("b"))
      .require("i != 0")
      .build();
}

}  // namespace

TEST_CASE("policy_messages: values of every kind come back from the space's description") {
  const Space space = every_kind();
  const json hello = json::parse(hello_message("p", {space, 18446744073709551615U}));
  CHECK(hello["seed"] == 18446744073709551615U);
  CHECK(hello["budget"].is_null());
  CHECK(hello["space"]["constraints"][0] == "i != 0");
  CHECK(hello["space"]["tunables"][5]["active_if"] == "b");
  CHECK(hello["space"]["count"] == space.count().low());
  const json& list = hello["space"]["configurations"];
  REQUIRE(list.size() == space.count().low());
  std::size_t right = 0;
  for (const json& positions : list) {
    json configuration;
    Config config;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const json& tunable = hello["space"]["tunables"][i];
      configuration[tunable["name"].get<std::string>()] = tunable["values"][positions[i].get<std::size_t>()];
      config.indices.push_back(positions[i].get<std::uint32_t>());
    }
    const json reply{{"type", "proposals"}, {"configurations", {configuration}}};
    const auto parsed = try_parse_policy_reply(reply.dump(), space);
    right +=
        parsed && parsed->configurations == std::vector<Config>{config} && space.contains(config) ? 1 : 0;
  }
  CHECK(right == list.size());
}

TEST_CASE("policy_messages: a large space is not listed, and one beyond 2^64 has no count") {
  SpaceBuilder large, huge;
  for (int i = 0; i < 5; ++i) large.add(Tunable::integer("t" + std::to_string(i), 0, 15));
  for (int i = 0; i < 20; ++i) huge.add(Tunable::integer("t" + std::to_string(i), 0, 15));
  const json one = json::parse(hello_message("p", {large.build(), 1}));
  CHECK(one["space"]["count"] == 1048576);
  CHECK(one["space"]["configurations"].is_null());
  CHECK(json::parse(hello_message("p", {huge.build(), 1}))["space"]["count"].is_null());
}

TEST_CASE("policy_messages: tells failures, foreign trials and earlier runs; infinity is null") {
  const Space space = contract_space();
  const Config config = space.default_config();
  std::vector<Observation<Config>> batch{contract_observation(space, config, 3, 1),
                                         contract_observation(space, config, 4, std::nullopt)};
  batch[1].outcome.evaluation = Evaluation::failed(Verdict::build_failed, "no \"such\" file");
  batch[1].outcome.objective = INFINITY;
  const json tell = json::parse(tell_message(space, batch));
  CHECK(tell["trials"][0]["trial"] == 3);
  CHECK(tell["trials"][0]["proposal"] == 1);
  CHECK(tell["trials"][0]["objective"] == contract_time(space, config));
  CHECK(tell["trials"][1]["proposal"].is_null());
  CHECK(tell["trials"][1]["objective"].is_null());
  CHECK(tell["trials"][1]["verdict"] == "build_failed");
  CHECK(tell["trials"][1]["reason"] == "no \"such\" file");
  PolicySetup setup{space, 1};
  setup.earlier.push_back({"a file", {{config, 2.5}, {config, INFINITY}}});
  const json hello = json::parse(hello_message("p", setup));
  CHECK(hello["earlier"][0]["trials"][0]["objective"] == 2.5);
  CHECK(hello["earlier"][0]["trials"][1]["objective"].is_null());
}

TEST_CASE("policy_messages: no line breaks the parser, and every configuration it gives has known values") {
  const Space space = contract_space();
  const std::vector<std::string> seeds{
      R"({"type":"ready","protocol":1})", R"({"type":"error","message":"m"})",
      R"({"type":"proposals","configurations":[{"block":16,"unroll":1,"pad":true,"layout":"tiled"}]})",
      R"({"type":"proposals","configurations":[{"block":16.0,"unroll":1,"pad":1,"layout":"row","x":[1,2]}]})"};
  const std::string alphabet = "{}[]\":,0123456789.-+eE truefalsn\\u\xff";
  Rng rng(11);
  std::size_t parsed = 0, faults = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string line = seeds[rng.below(seeds.size())];
    for (std::uint64_t changes = rng.below(4); changes > 0; --changes) {
      const std::size_t at = rng.below(line.size());
      if (rng.chance(0.5))
        line[at] = alphabet[rng.below(alphabet.size())];
      else if (rng.chance(0.5))
        line.erase(at, 1 + rng.below(5));
      else
        line.insert(at, 1, alphabet[rng.below(alphabet.size())]);
      if (line.empty()) line = "{";
    }
    const auto reply = try_parse_policy_reply(line, space);
    if (!reply) {
      ++faults;
      if (reply.error().what.empty() || reply.error().todo.empty()) FAIL(line);
      continue;
    }
    ++parsed;
    for (const Config& config : reply->configurations) {
      if (config.indices.size() != space.size()) FAIL(line);
      for (std::size_t i = 0; i < space.size(); ++i)
        if (config.indices[i] >= space.tunable(i).values.size()) FAIL(line);
    }
  }
  CHECK(parsed > 1000);
  CHECK(faults > 1000);
}
