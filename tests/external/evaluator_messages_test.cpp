// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "external/evaluator_messages.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch;
using external::EvaluatorReplyKind;
using external::try_parse_evaluator_reply;

namespace {

std::string fault_of(std::string_view line) {
  const auto reply = try_parse_evaluator_reply(line);
  return reply ? "" : reply.error().what;
}

Problem messages_problem() {
  return parse_problem(R"({"schema": 1, "name": "p", "backend": "external", "function": "f",
    "kernel": {"device": {"text": "the kernel"}},
    "arguments": [{"name": "n", "type": "i64", "value": "n"}, {"name": "x", "type": "f64", "size": "n", "role": "in"},
                  {"name": "y", "type": "i32", "size": "2 * n", "role": "inout"}],
    "shapes": [{"name": "s", "n": 3}], "tunables": {"A": ["b", "c"], "ORDER": {"permutation": 2}},
    "reference": {"source": {"text": "void r() {}"}, "function": "r"}, "external": {"command": ["x"]}})",
                       ".");
}

}  // namespace

TEST_CASE("evaluator messages: replies of each kind are read") {
  auto reply = try_parse_evaluator_reply(
      R"({"type":"described","id":"a","protocol":1,"name":"n","version":"v","device":"d","times":true,"more":0})");
  REQUIRE(reply);
  CHECK(reply->kind == EvaluatorReplyKind::described);
  CHECK(reply->protocol == 1);
  CHECK(reply->name + reply->version + reply->device == "nvd");
  CHECK(reply->claims_times);
  reply = try_parse_evaluator_reply(R"({"type":"built","id":"a","features":{"registers":40}})");
  REQUIRE(reply);
  CHECK(reply->ok);
  CHECK(reply->features.find("registers") == 40.0);
  reply = try_parse_evaluator_reply(R"({"type":"built","id":"a","ok":false,"reason":"line 1\u001b[2J"})");
  REQUIRE(reply);
  CHECK_FALSE(reply->ok);
  CHECK(reply->reason.find('\x1b') == std::string::npos);
  reply = try_parse_evaluator_reply(R"({"type":"ran","id":"a","seconds":[1e-3,0]})");
  REQUIRE(reply);
  CHECK(reply->seconds == std::vector<double>{1e-3, 0});
  CHECK(try_parse_evaluator_reply(R"({"type":"nothing","id":""})"));
}

TEST_CASE("evaluator messages: what is none has a fault") {
  CHECK(fault_of("") == "answered with what is not a JSON object");
  CHECK(fault_of("[]") == "answered with what is not a JSON object");
  CHECK(fault_of("{}") == "answered without \"type\" or \"id\"");
  CHECK(fault_of(R"({"type":"ran"})") == "answered without \"type\" or \"id\"");
  CHECK(fault_of(R"({"type":"run","id":"a"})") == "answered with a type that is not known");
  CHECK(fault_of(R"({"type":"ran","id":"a","ok":1})") == "has \"ok\" that is not a bool");
  for (const char* seconds : {"1", "[\"1\"]", "[-1]", "[1e999]", "[null]"})
    CHECK(fault_of(R"({"type":"ran","id":"a","seconds":)" + std::string(seconds) + "}") != "");
  for (const char* features : {"[]", "{\"a\":\"b\"}", "{\"\":1}"})
    CHECK(fault_of(R"({"type":"built","id":"a","features":)" + std::string(features) + "}") != "");
  CHECK(fault_of(R"({"type":"described","id":"a","protocol":1,"name":"","version":"v","device":"d"})") ==
        "describes itself without \"name\"");
  CHECK(fault_of(R"({"type":"described","id":"a","protocol":-1,"name":"n","version":"v","device":"d"})") ==
        "describes itself without the protocol");
}

TEST_CASE("evaluator messages: any change of a reply is a reply or a fault") {
  const std::string good =
      R"({"type":"described","id":"a","protocol":1,"name":"n","version":"v","device":"d","seconds":[1,2],"features":{"a":1}})";
  Rng rng(7);
  for (int i = 0; i < 3000; ++i) {
    std::string line = good;
    for (std::uint64_t changes = 1 + rng.below(4); changes > 0; --changes) {
      const std::size_t at = rng.below(line.size());
      switch (rng.below(3)) {
        case 0:
          line[at] = static_cast<char>(rng.below(256));
          break;
        case 1:
          line.erase(at, 1 + rng.below(4));
          break;
        default:
          line.insert(at, 1, "{}[]\",:0e-"[rng.below(10)]);
      }
      if (line.empty()) line = "x";
    }
    const auto reply = try_parse_evaluator_reply(line);
    if (!reply) CHECK_FALSE(reply.error().what.empty());
  }
}

TEST_CASE("evaluator messages: requests say all that a program needs") {
  const Problem problem = messages_problem();
  const auto describe = nlohmann::json::parse(external::describe_message(problem, "id1"));
  CHECK(describe["protocol"] == 1);
  CHECK(describe["id"] == "id1");
  CHECK(describe["arguments"].size() == 3);
  const auto build = nlohmann::json::parse(external::build_message(problem.default_candidate(), "id2"));
  CHECK(build["source"] == "the kernel");
  CHECK(build["configuration"]["A"] == "b");
  CHECK(build["configuration"]["ORDER"] == nlohmann::json{0, 1});
  const detail::ShapePlan plan = detail::plan_shape(problem, problem.default_candidate(), 0);
  detail::Slots slots(plan, detail::Storage::native, 4096, 2, 2);
  const detail::Arena in(slots.arena_bytes().inputs, detail::Arena::Writers::controller),
      out(slots.arena_bytes().outputs, detail::Arena::Writers::both);
  slots.attach({in.data(), out.data(), 0, 0}, 1);
  const auto load = nlohmann::json::parse(external::load_message(problem, slots, in, out, "id3"));
  CHECK(load["shape"]["n"] == 3);
  CHECK(load["memory"][0]["writable"] == false);
  CHECK(load["memory"][1]["bytes"] == out.size());
  CHECK(load["arguments"][0]["value"] == 3);
  CHECK(load["arguments"][1]["role"] == "in");
  CHECK(load["arguments"][1]["memory"] == 0);
  CHECK(load["arguments"][2]["role"] == "inout");
  CHECK(load["arguments"][2]["memory"] == 1);
  CHECK(load["arguments"][2]["count"] == 6);
  for (std::size_t slot = 0; slot < 2; ++slot)
    CHECK(load["arguments"][2]["offsets"][slot] == slots.data(slot, 2) - out.data());
  CHECK(external::run_message(std::vector<std::uint32_t>{1, 0}, "id4") ==
        R"({"type":"run","id":"id4","slots":[1,0]})");
}
