// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/result.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "kernelsearch/core/expression.hpp"

using namespace kernelsearch;

namespace {

Result<std::unique_ptr<int>> positive(int number) {
  if (number <= 0) return Fault{"not a positive number", std::to_string(number), "give one above 0"};
  return std::make_unique<int>(number);
}

Result<void> even(int number) {
  if (number % 2 != 0) return Fault{"an odd number", std::to_string(number), {}};
  return {};
}

}  // namespace

TEST_CASE("Result: holds a value, also one that can only be moved, or why there is none") {
  Result<std::unique_ptr<int>> five = positive(5);
  REQUIRE(five.ok());
  REQUIRE(five);
  CHECK(**five == 5);
  CHECK(five->get() == (*five).get());
  const std::unique_ptr<int> taken = *std::move(five);
  CHECK(*taken == 5);

  const Result<std::unique_ptr<int>> none = positive(-2);
  REQUIRE_FALSE(none.ok());
  REQUIRE_FALSE(none);
  CHECK(none.error().given == "-2");
  CHECK(none.error().text() == "kernelsearch: not a positive number: -2; give one above 0");
}

TEST_CASE("Result: without a value it is success or why not") {
  CHECK(even(4));
  const Result<void> odd = even(3);
  REQUIRE_FALSE(odd);
  CHECK(odd.error().text() == "kernelsearch: an odd number: 3");
}

TEST_CASE("Result: value and error may be of any types that differ") {
  enum class Missing { file };
  const Result<std::string, Missing> text = std::string("text"), missing = Missing::file;
  REQUIRE(text);
  CHECK(*text == "text");
  REQUIRE_FALSE(missing);
  CHECK(missing.error() == Missing::file);
}

TEST_CASE("Result: raising its error says the same") {
  CHECK(*detail::value_or_raise(positive(7)) == 7);
  CHECK_THROWS_WITH_AS((void)detail::value_or_raise(positive(0)),
                       "kernelsearch: not a positive number: 0; give one above 0", ConfigError);
}

TEST_CASE("Expression: try_parse says what parse raises") {
  const Result<Expression> parsed = Expression::try_parse("a + 1");
  REQUIRE(parsed);
  CHECK(parsed->names() == std::vector<std::string>{"a"});
  const Result<Expression> broken = Expression::try_parse("a +");
  REQUIRE_FALSE(broken);
  CHECK_THROWS_WITH_AS((void)Expression::parse("a +"), broken.error().text().c_str(), ConfigError);
}

TEST_CASE("Result: the value of a failed one is an error that says why") {
  const Result<std::unique_ptr<int>> none = positive(-2);
  const char* const words =
      "the value of a failed result was read: kernelsearch: not a positive number: -2; give one above 0; "
      "look at ok() first";
  CHECK_THROWS_WITH_AS((void)*none, doctest::Contains(words), ConfigError);
  CHECK_THROWS_WITH_AS((void)none->get(), doctest::Contains(words), ConfigError);
  CHECK_THROWS_AS((void)*positive(-3), ConfigError);
}
