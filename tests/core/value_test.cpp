// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/value.hpp"

#include <doctest/doctest.h>

#include <string>

#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;

TEST_CASE("Value: prints as source text that reads back") {
  CHECK(to_string(Value{true}) == "true");
  CHECK(to_string(Value{std::int64_t{-16}}) == "-16");
  CHECK(to_string(Value{0.5}) == "0.5");
  CHECK(to_string(Value{2.0}) == "2.0");
  CHECK(std::stod(to_string(Value{0.1})) == 0.1);
  CHECK(to_string(Value{std::string("float4")}) == "float4");
  CHECK(to_string(Value{Permutation{1, 0, 2}}) == "[1, 0, 2]");
}

TEST_CASE("Value: numbers and type names") {
  CHECK(to_number(Value{true}) == 1.0);
  CHECK(to_number(Value{std::int64_t{3}}) == 3.0);
  CHECK(to_number(Value{2.5}) == 2.5);
  CHECK(try_to_number(Value{true}) == 1.0);
  CHECK(try_to_number(Value{std::int64_t{3}}) == 3.0);
  CHECK(!try_to_number(Value{std::string("n/a")}));
  CHECK(!try_to_number(Value{Permutation{1, 0}}));
  const auto error_of = [](const Value& value) {
    try {
      return std::to_string(to_number(value));
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
  };
  CHECK(error_of(Value{std::string("fast")}).find("a string has no number: fast; ask try_to_number()") !=
        std::string::npos);
  CHECK(error_of(Value{Permutation{1, 0}}).find("a permutation has no number: [1, 0]") != std::string::npos);
  CHECK(std::string(type_name(Value{Permutation{}})) == "permutation");
}
