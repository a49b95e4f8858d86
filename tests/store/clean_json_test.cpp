// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/clean_json.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/store/json.hpp"

using namespace kernelsearch;
using nlohmann::json;

TEST_CASE("clean_json: what commands a terminal becomes an escape, and nothing is lost") {
  CHECK(clean_json("{\"a\": \"\xc3\xa4 \xe2\x82\xac\"}\n") == "{\"a\": \"\xc3\xa4 \xe2\x82\xac\"}\n");
  CHECK(clean_json("\"\xe2\x80\xae"
                   "a\x7f\xc2\x9b\"") == "\"\\u202ea\\u007f\\u009b\"");
  CHECK(clean_json("").empty());
  std::mt19937 random(34);
  const std::string_view pieces[] = {
      "a",  "\x1b", "\x7f", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6", "\xf0\x9f\x98\x80",
      "\"", "\\",   "\n",   "\t",       "\xef\xbf\xbd", "\xc3\xa4"};
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (unsigned n = random() % 8; n > 0; --n) text += pieces[random() % std::size(pieces)];
    const std::string shown = json_text(json{{"text", text}});
    REQUIRE(clean_text(shown) == shown);
    REQUIRE(json::parse(shown)["text"] == text);
  }
}
