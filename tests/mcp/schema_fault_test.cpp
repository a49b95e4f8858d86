// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/mcp/schema_fault.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

using kernelsearch::schema_fault;
using nlohmann::json;

TEST_CASE("schema_fault: what fits has none") {
  const json schema =
      json::parse(R"({"type": "object", "additionalProperties": false, "required": ["run"], "properties": {
    "run": {"type": "integer", "minimum": 1, "maximum": 9}, "seconds": {"type": "number", "exclusiveMinimum": 0},
    "code": {"type": "string", "minLength": 2, "maxLength": 5}, "format": {"type": "string", "enum": ["text", "html"]},
    "names": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
    "settings": {"type": "object", "additionalProperties": {"type": ["number", "boolean"]}},
    "only": {"const": 5}, "either": {"anyOf": [{"type": "null"}, {"type": "string"}]}, "any": {}}})");
  const auto fault = [&schema](const char* text) { return schema_fault(schema, json::parse(text)); };
  CHECK(fault(R"({"run": 1})") == "");
  CHECK(
      fault(
          R"({"run": 9, "seconds": 0.1, "code": "ab", "format": "html", "names": ["a"], "settings": {"A": 1, "B": true},
                  "only": 5, "either": null, "any": [1]})") == "");
  CHECK(fault(R"({"run": 3.0, "either": "x"})") == "");
  CHECK(fault(R"([])") == "arguments is a list; give an object");
  CHECK(fault(R"({})") == "arguments.run is missing");
  CHECK(fault(R"({"run": "1"})") == "arguments.run is \"1\"; give an integer");
  CHECK(fault(R"({"run": 1.5})") == "arguments.run is 1.5; give an integer");
  CHECK(fault(R"({"run": true})") == "arguments.run is true; give an integer");
  CHECK(fault(R"({"run": 0})") == "arguments.run is 0; give at least 1");
  CHECK(fault(R"({"run": 10})") == "arguments.run is 10; give at most 9");
  CHECK(fault(R"({"run": 1, "seconds": 0})") == "arguments.seconds is 0; give more than 0");
  CHECK(fault(R"({"run": 1, "code": "a"})") == "arguments.code is too short; give at least 2 characters");
  CHECK(fault(R"({"run": 1, "code": "abcdef"})") == "arguments.code has 6 characters; give at most 5");
  CHECK(fault(R"({"run": 1, "format": "htm"})") ==
        "arguments.format is \"htm\"; did you mean html?; give one of: text, html");
  CHECK(fault(R"({"run": 1, "names": []})") == "arguments.names has 0 items; give at least 1");
  CHECK(fault(R"({"run": 1, "names": ["a", "b", "c"]})") == "arguments.names has 3 items; give at most 2");
  CHECK(fault(R"({"run": 1, "names": ["a", 2]})") == "arguments.names[1] is 2; give a string");
  CHECK(fault(R"({"run": 1, "settings": {"A": "x"}})") ==
        "arguments.settings.A is \"x\"; give a number, boolean");
  CHECK(fault(R"({"run": 1, "only": 4})") == "arguments.only is 4; give 5");
  CHECK(fault(R"({"run": 1, "either": 4})") == "arguments.either is 4; give a string");
  CHECK(fault(R"({"run": 1, "formt": "text"})") == "arguments has no \"formt\"; did you mean format?");
  CHECK(fault(R"({"run": 1, "zzzzzzzzz": 1})").find("there are: any, code,") != std::string::npos);
}

TEST_CASE("schema_fault: long values are cut in messages, and what is missing is described") {
  const json schema = json::parse(
      R"({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "description": "how many"}}})");
  CHECK(schema_fault(schema, json::object(), "x") == "x.a is missing; give a: how many");
  const std::string fault = schema_fault(schema, {{"a", std::string(500, 'q')}});
  CHECK(fault.size() < 120);
  CHECK(schema_fault(schema, {{"a", "\xff"}}).find("integer") !=
        std::string::npos);  // no exception for bad bytes
  CHECK(schema_fault(json(true), 5) == "");
}
