// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "problem/problem_texts.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;
using Json = nlohmann::ordered_json;

namespace {

const char* const texts[] = {full_problem, small_problem, device_problem};

/// Reads the text: it gives a problem, which then writes and reads back, or a ConfigError. Anything else that
/// is thrown fails the test, and a crash ends it.
bool survives(const std::string& text, int& accepted) {
  try {
    const Problem problem = parse_problem(text, "/nonexistent");
    ++accepted;
    const Problem again = parse_problem(problem_json(problem), "/nonexistent");
    if (problem_digest(again) != problem_digest(problem)) return false;
    return true;
  } catch (const ConfigError& error) {
    return std::string(error.what()).find("kernelsearch: ") == 0;
  } catch (...) {
    return false;
  }
}

std::string mutated_bytes(std::string text, Rng& rng) {
  constexpr const char* tokens[] = {
      "{", "}",       "[",  "]",  ",",    ":",  "\"", "null", "true", "-1", "1e308", "9223372036854775807",
      "0", "\\u0000", "//", "/*", "\xff", "\n", "if", "${",   "n",    "**"};
  const std::uint64_t edits = 1 + rng.below(3);
  for (std::uint64_t i = 0; i < edits && !text.empty(); ++i) {
    const std::size_t at = rng.below(text.size());
    switch (rng.below(5)) {
      case 0:
        text.erase(at, 1 + rng.below(12));
        break;
      case 1:
        text.insert(at, tokens[rng.below(std::size(tokens))]);
        break;
      case 2:
        text[at] = static_cast<char>(rng.below(256));
        break;
      case 3:
        text.insert(at, text.substr(rng.below(text.size()), rng.below(40)));
        break;
      default:
        text.resize(at);
        break;
    }
  }
  return text;
}

std::vector<Json::json_pointer> places(const Json& json,
                                       const Json::json_pointer& here = Json::json_pointer()) {
  std::vector<Json::json_pointer> all{here};
  const auto add = [&](const Json::json_pointer& at, const Json& member) {
    const auto inner = places(member, at);
    all.insert(all.end(), inner.begin(), inner.end());
  };
  if (json.is_object())
    for (const auto& [key, member] : json.items()) add(here / key, member);
  if (json.is_array())
    for (std::size_t i = 0; i < json.size(); ++i) add(here / i, json[i]);
  return all;
}

/// Puts a value from elsewhere or a strange one in some place of the document.
std::string mutated_tree(Json json, Rng& rng) {
  static const std::vector<Json> strange = {nullptr,
                                            true,
                                            0,
                                            -1,
                                            1.5,
                                            9223372036854775807LL,
                                            1e300,
                                            "",
                                            "n",
                                            "TILE",
                                            "1//0",
                                            "n**n",
                                            "[i for i in range(99999999)]",
                                            "x",
                                            Json::array(),
                                            Json::object(),
                                            Json::array({1, "a"}),
                                            {{"range", {0, 5}}},
                                            {{"text", ""}}};
  const std::uint64_t edits = 1 + rng.below(2);
  for (std::uint64_t i = 0; i < edits; ++i) {
    const auto all = places(json);
    const auto& at = all[rng.below(all.size())];
    json[at] = rng.chance(0.5) ? strange[rng.below(strange.size())] : Json(json[all[rng.below(all.size())]]);
  }
  return json.dump();
}

}  // namespace

TEST_CASE("mutated problem texts are read or refused with a ConfigError, never anything else") {
  Rng rng(2026);
  int accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = mutated_bytes(texts[i % 3], rng);
    CAPTURE(text);
    REQUIRE(survives(text, accepted));
  }
  CHECK(accepted > 20);
}

TEST_CASE("problems with members exchanged are read or refused with a ConfigError, never anything else") {
  Rng rng(2027);
  int accepted = 0;
  const Json trees[] = {Json::parse(full_problem, nullptr, true, true), Json::parse(small_problem),
                        Json::parse(device_problem)};
  for (int i = 0; i < 3000; ++i) {
    const std::string text = mutated_tree(trees[i % 3], rng);
    CAPTURE(text);
    REQUIRE(survives(text, accepted));
  }
  CHECK(accepted > 100);
}
