// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/system_options.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;

namespace {

const std::vector<SystemOption>& options() {
  static const std::vector<SystemOption> all{
      {"trials", std::int64_t{5}, "how many", "a paper, section 2", 1, 10},
      {"share", 0.25, "of them", "ours", 0, 1},
      {"again", false, "whether", "ours"},
      {"folder", std::string(), "where", "ours"}};
  return all;
}

}  // namespace

TEST_CASE("SystemOptions: given values over the standard ones, as their types") {
  const SystemOptions standard("sys", options(), "");
  CHECK(standard.integer("trials") == 5);
  CHECK(standard.count("trials") == 5);
  CHECK(standard.number("share") == 0.25);
  CHECK_FALSE(standard.flag("again"));
  CHECK(standard.text("folder").empty());
  CHECK_FALSE(standard.given("folder"));
  CHECK_FALSE(standard.given("no_such"));
  const SystemOptions given("sys", options(), R"({"trials": 7, "share": 1, "again": true, "folder": "x"})");
  CHECK(given.count("trials") == 7);
  CHECK(given.number("share") == 1.0);
  CHECK(given.flag("again"));
  CHECK(given.text("folder") == "x");
  CHECK(given.given("folder"));
  CHECK(given.json() == R"({"again":true,"folder":"x","share":1.0,"trials":7})");
  CHECK_THROWS_AS((void)given.integer("share"), ConfigError);
  CHECK_THROWS_AS((void)given.text("none"), ConfigError);
}

TEST_CASE("SystemOptions: what is wrong is named with what to do") {
  const auto refused = [](const char* json, const char* words) {
    CHECK_THROWS_WITH_AS((void)SystemOptions("sys", options(), json), doctest::Contains(words), ConfigError);
  };
  refused(R"({"trial": 7})", "did you mean trials?");
  refused(R"({"zzzzzzzz": 7})", "zzzzzzzz; there are trials, share, again, folder");
  refused(R"({"trials": 7.5})", "give a whole number");
  refused(R"({"trials": 0})", "give a number from 1");
  refused(R"({"trials": 11})", "out of bounds");
  refused(R"({"share": "x"})", "give a number");
  refused(R"({"again": 1})", "give true or false");
  refused(R"({"folder": 1})", "give a string");
  refused("[]", "JSON object");
  refused("{", "options of sys");
}

TEST_CASE("SystemOptions: the schema has types, bounds, standard values and sources") {
  const std::string schema = system_options_schema("sys", options());
  for (const char* part :
       {"\"title\": \"Options of sys\"", "\"minimum\": 1,", "\"maximum\": 10", "\"default\": 0.25",
        "how many (a paper, section 2)", "\"additionalProperties\": false"})
    CHECK_MESSAGE(schema.find(part) != std::string::npos, part);
}

TEST_CASE("SystemOptions: a variant is a set of standard values, over which what is given goes") {
  const std::vector<SystemVariant> variants{{"ours", "the best", "figures"},
                                            {"paper", "as it is", "a paper"}};
  std::vector<SystemOption> all{variant_option(variants)};
  all.push_back({"trials",
                 std::int64_t{5},
                 "how many",
                 "ours",
                 1,
                 10,
                 {},
                 {{"paper", std::int64_t{2}, "a paper, section 2"}}});
  all.push_back({"way",
                 std::string("left"),
                 "where to",
                 "ours",
                 0,
                 0,
                 {"left", "right"},
                 {{"paper", std::string("right"), "a paper, section 3"}}});
  const auto given = [&all](const char* json) { return SystemOptions("sys", all, json); };
  CHECK(given("").json() == R"({"trials":5,"variant":"ours","way":"left"})");
  CHECK(given(R"({"variant": "paper"})").json() == R"({"trials":2,"variant":"paper","way":"right"})");
  CHECK(given(R"({"trials": 9, "variant": "paper"})").json() ==
        R"({"trials":9,"variant":"paper","way":"right"})");
  // What was resolved gives the same again, whatever the standard values are by then.
  const std::string resolved = given(R"({"variant": "paper"})").json();
  all[1].variants.front().value = std::int64_t{7};
  CHECK(SystemOptions("sys", all, resolved).count("trials") == 2);
  const auto refused = [&](const char* json, const char* words) {
    CHECK_THROWS_WITH_AS((void)given(json), doctest::Contains(words), ConfigError);
  };
  refused(R"({"variant": "papers"})", "did you mean paper? there are ours, paper");
  refused(R"({"way": "up"})", "there are left, right");
  refused(R"({"variant": 1})", "give a string");
  const std::string schema = system_options_schema("sys", all);
  for (const char* part : {"\"enum\": [", "\"x-variants\": {", "\"source\": \"a paper, section 3\"",
                           "ours: the best; paper: as it is"})
    CHECK_MESSAGE(schema.find(part) != std::string::npos, part);
  CHECK(merged_system_options(R"({"a": 1, "b": 2})", R"({"b": 3})", "it") == R"({"a":1,"b":3})");
  CHECK(merged_system_options("", "", "it").empty());
  CHECK_THROWS_WITH_AS((void)merged_system_options("[1]", "", "mine.json"), doctest::Contains("JSON object"),
                       ConfigError);
}
