// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/json_salvage.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;
using Items = std::vector<std::string>;

namespace {

SalvagedItems salvaged(std::string_view text) {
  return salvage_items(text, "configs");
}

}  // namespace

TEST_CASE("salvage_items: a clean list, and one in prose or fences") {
  const Items expected{R"({"block":64})", R"({"block":128,"pad":true})"};
  const std::string list = R"({"configs":[{"block":64},{"block":128,"pad":true}]})";
  CHECK(salvaged(list).items == expected);
  CHECK_FALSE(salvaged(list).cut);
  CHECK(salvaged("Here [as asked]: {x}\n```json\n" + list + "\n```\nGood luck with {these}!").items ==
        expected);
  CHECK(salvaged(
            "{\"result\": {\"notes\": [1, {}], \"configs\": [{\"block\":64},{\"block\":128,\"pad\":true}]}}")
            .items == expected);
}

TEST_CASE("salvage_items: bare lists, lines of objects and lists in several blocks") {
  CHECK(salvaged(R"([{"a":1},{"a":2}])").items == Items{R"({"a":1})", R"({"a":2})"});
  CHECK(salvaged("{\"a\":1}\n{\"a\":2}\n").items == Items{R"({"a":1})", R"({"a":2})"});
  CHECK(salvaged("```\n{\"configs\":[{\"a\":1}]}\n```\nand\n```\n{\"configs\":[{\"a\":2}]}\n```").items ==
        Items{R"({"a":1})", R"({"a":2})"});
  // what stands beside a list under the key is prose
  CHECK(salvaged(R"(e.g. {"a":9} but {"configs":[{"a":1}]})").items == Items{R"({"a":1})"});
}

TEST_CASE("salvage_items: what models write for JSON") {
  CHECK(
      salvaged(
          "{'configs': [{'pad': True, 'x': None, 'y': False,}, {block: 64, // the best\n layout: tiled},],}")
          .items == Items{R"({"pad":true,"x":null,"y":false})", R"({"block":64,"layout":"tiled"})"});
  CHECK(salvaged(R"([{"a": 1.5, "b": -3, "c": +2, "d": [1, 0], "e": "\u00e9\n\"q\""}])").items ==
        Items{"{\"a\":1.5,\"b\":-3,\"c\":2,\"d\":[1,0],\"e\":\"\xc3\xa9\\n\\\"q\\\"\"}"});
}

TEST_CASE("salvage_items: a list that was cut gives its complete items") {
  const std::string whole =
      R"({"configs":[{"block":64,"order":[1,0]},{"block":128},{"block":256,"layout":"row"}]})";
  const Items items = salvaged(whole).items;
  REQUIRE(items.size() == 3);
  // Wherever it is cut: exactly the items whose last brace is there.
  for (std::size_t end = 0; end < whole.size(); ++end) {
    CAPTURE(end);
    const SalvagedItems part = salvaged(std::string_view(whole).substr(0, end));
    std::size_t complete = 0, from = 12;
    while (complete < 3 && whole.find('}', from) < end) from = whole.find('}', from) + 1, ++complete;
    CHECK(part.items == Items(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(complete)));
    if (end > 0) CHECK(part.cut == (end < whole.size()));
  }
}

TEST_CASE("salvage_items: one broken item does not take the others along") {
  CHECK(salvaged(R"({"configs":[{"a":1},{"a":::},{"a":3}]})").items == Items{R"({"a":1})", R"({"a":3})"});
  CHECK(salvaged("no JSON here").items.empty());
  CHECK(salvaged("").items.empty());
  CHECK(salvaged("{{{{[[[[").items.empty());
}

TEST_CASE("salvage_items: any text is read in linear time, and items are JSON") {
  Rng rng(5);
  const std::string alphabet = "{}[]\",:'\\ \nab1-.eTF/*u";
  for (int round = 0; round < 3000; ++round) {
    std::string text = rng.chance(0.5) ? R"({"configs":[{"block":64,"order":[1,0]},{"block":128}]})" : "";
    const std::size_t edits = 1 + rng.below(30);
    for (std::size_t i = 0; i < edits; ++i) {
      const char c =
          rng.chance(0.05) ? static_cast<char>(rng.below(256)) : alphabet[rng.below(alphabet.size())];
      const std::size_t at = rng.below(text.size() + 1);
      if (at < text.size() && rng.chance(0.5))
        text[at] = c;
      else
        text.insert(at, 1, c);
    }
    CAPTURE(text);
    for (const std::string& item : salvaged(text).items) CHECK(nlohmann::json::accept(item));
  }
  // quadratic time would take minutes here
  for (const char* unit : {"[", "{\"a\":", "[{},", "{\"configs\":[", "'", "/*", "[1 "}) {
    std::string text;
    while (text.size() < 1000000) text += unit;
    (void)salvaged(text);
  }
}
