// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/expression.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "../fuzz/expression_fuzz.cpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

namespace {

struct Case {
  int environment;
  const char* text;
  const char* result;
};
constexpr Case cases[] = {
#include "expression_cases.inc"
};

std::vector<Value> environment(int which, const std::vector<std::string>& names) {
  std::vector<Value> values;
  for (const std::string& name : names) {
    if (name == "a")
      values.emplace_back(std::int64_t{which == 0 ? 7 : 64});
    else if (name == "b")
      values.emplace_back(std::int64_t{which == 0 ? -3 : 5});
    else if (name == "c")
      values.emplace_back(std::int64_t{which == 0 ? 0 : 1});
    else if (name == "x")
      values.emplace_back(which == 0 ? 2.5 : -0.75);
    else if (name == "s")
      values.emplace_back(std::string(which == 0 ? "row" : ""));
    else if (name == "l")
      values.emplace_back(which == 0 ? Permutation{1, 2, 4} : Permutation{3});
    else
      values.emplace_back(std::int64_t{0});
  }
  return values;
}

/// As make_expression_cases.py spells results; floats are compared as numbers.
bool agrees(const std::optional<Value>& value, std::string_view expected) {
  if (!value) return expected == "error";
  if (expected.substr(0, 6) == "float ") {
    return std::holds_alternative<double>(*value) &&
           std::get<double>(*value) == std::strtod(std::string(expected.substr(6)).c_str(), nullptr);
  }
  const std::string kind = std::holds_alternative<std::int64_t>(*value)  ? "int "
                           : std::holds_alternative<std::string>(*value) ? "string "
                           : std::holds_alternative<bool>(*value)        ? ""
                                                                         : "other ";
  return kind + to_string(*value) == expected;
}

std::string error_of(std::string_view text) {
  std::string error;
  CHECK_MESSAGE(!Expression::try_parse(text, error), std::string(text.substr(0, 80)));
  return error;
}

Value eval(std::string_view text) {
  return Expression::parse(text).evaluate();
}

}  // namespace

TEST_CASE("Expression: 1400 random formulas give what CPython gives") {
  for (const Case& c : cases) {
    std::string error;
    const std::optional<Expression> parsed = Expression::try_parse(c.text, error);
    REQUIRE_MESSAGE(parsed, error);
    const std::optional<Value> result =
        parsed->try_evaluate(environment(c.environment, parsed->names()), &error);
    CHECK_MESSAGE(agrees(result, c.result), std::string(c.text)
                                                << " gave " << (result ? to_string(*result) : error)
                                                << ", Python " << std::string(c.result));
  }
}

TEST_CASE("Expression: the idioms of T1 files") {
  CHECK(eval("32 <= 8 * 16 <= 1024") == Value{true});
  CHECK(eval("32 % ((8 * 16) / 32) == 0") == Value{true});
  CHECK(eval("32 % ((8 * 16) / 3) == 0") == Value{false});
  CHECK(eval("-7 // 2") == Value{std::int64_t{-4}});
  CHECK(eval("-7 % 3") == Value{std::int64_t{2}});
  CHECK(eval("2 ** -1") == Value{0.5});
  CHECK(eval("-2 ** 2") == Value{std::int64_t{-4}});
  CHECK(eval("2 ** 3 ** 2") == Value{std::int64_t{512}});
  CHECK(eval("0x10 + 1_000") == Value{std::int64_t{1016}});
  CHECK(eval("[1, 2] + [2**i for i in range(2, 4)]") == Value{Permutation{1, 2, 4, 8}});
  CHECK(eval("sum(x for x in range(5) if x % 2)") == Value{std::int64_t{4}});
  CHECK(eval("9007199254740993 == 9007199254740992.0") == Value{false});
  CHECK(Expression::parse("['a', 'b']").evaluate_list() ==
        std::vector<Value>{std::string("a"), std::string("b")});
  CHECK(Expression::parse("1, 2").evaluate_list().size() == 2);
  CHECK(Expression::parse("[(0, 1), (1, 0)]").evaluate_list()[1] == Value{Permutation{1, 0}});
  CHECK(Expression::parse("list(range(1, 4092+1))").evaluate_list().size() == 4092);
}

TEST_CASE("Expression: names, slots and binding") {
  const Expression e = Expression::parse("b * a + [b for b in range(3)][2] + min(a, 1)");
  CHECK(e.names() == std::vector<std::string>{"b", "a"});
  const std::vector<Value> values{std::int64_t{5}, std::int64_t{7}};
  CHECK(e.evaluate(values) == Value{std::int64_t{38}});
  const std::vector<std::string> order{"z", "a", "b"};
  const Expression bound = e.bind(order);
  CHECK(bound.names() == order);
  CHECK_FALSE(bound.uses(0));
  CHECK(bound.uses(2));
  const std::vector<Value> more{std::int64_t{0}, std::int64_t{7}, std::int64_t{5}};
  CHECK(bound.evaluate(more) == Value{std::int64_t{38}});
  const std::vector<std::string> swapped{"b", "a", "z"};
  CHECK(bound.bind(swapped).evaluate(std::vector<Value>{std::int64_t{5}, std::int64_t{7}, std::int64_t{0}}) ==
        Value{std::int64_t{38}});
  const std::vector<std::string> wrong{"aa", "block"};
  CHECK_THROWS_WITH_AS((void)Expression::parse("blok == 1").bind(wrong),
                       doctest::Contains("did you mean \"block\"?"), ConfigError);
  CHECK_THROWS_AS((void)e.evaluate(std::vector<Value>{std::int64_t{5}}), ConfigError);
}

TEST_CASE("Expression: other ways to evaluate") {
  const Expression e = Expression::parse("(n + block - 1) // block");
  CHECK(e.evaluate_number(std::vector<double>{1000, 32}) == 32.0);
  CHECK(Expression::parse("n / 2").evaluate_number(std::vector<double>{3}) == 1.5);
  CHECK(Expression::parse("n % 4 == 0").test_integers(std::vector<std::int64_t>{8}) == true);
  CHECK(Expression::parse("4 % n == 0").test_integers(std::vector<std::int64_t>{0}) == std::nullopt);
  CHECK(Expression::parse("n == 0 or 4 % n == 0").test_integers(std::vector<std::int64_t>{0}) == true);
  CHECK(Expression::parse("[]").evaluate_bool() == false);
  CHECK(Expression::parse("'x'").evaluate_bool() == true);
  CHECK_THROWS_WITH_AS((void)Expression::parse("2 + 1 // 0").evaluate(), doctest::Contains("at character 7"),
                       ConfigError);
  CHECK_THROWS_AS((void)Expression::parse("'x'").evaluate_number(), ConfigError);
  CHECK_THROWS_AS((void)Expression::parse("3").evaluate_list(), ConfigError);
}

TEST_CASE("Expression: errors say where, what was found and what was expected") {
  CHECK(error_of("a +") ==
        "at character 4 of `a +`: found the end, expected a number, a name, a string, \"(\" or \"[\"");
  CHECK(error_of("a && b") == "at character 3 of `a && b`: found \"&&\", expected the word \"and\"");
  CHECK(error_of("a = 1") == "at character 3 of `a = 1`: found \"=\", expected \"==\"");
  CHECK(error_of("mim(1, 2)") ==
        "at character 1 of `mim(1, 2)`: found the unknown function \"mim\", expected perhaps \"min\"");
  CHECK(error_of("(1, 2").find("\",\" or \")\"") != std::string::npos);
  CHECK(error_of("[x for 3 in y]").find("the name of the loop's variable") != std::string::npos);
  CHECK(error_of("1 if 2").find("\"else\"") != std::string::npos);
  CHECK(error_of("'abc").find("closing quote") != std::string::npos);
  CHECK(error_of("12abc").find("malformed number") != std::string::npos);
  CHECK(error_of("99999999999999999999").find("beyond 64 bits") != std::string::npos);
  CHECK(error_of("abs(1, 2)").find("found 2 arguments of abs, expected 1") != std::string::npos);
  CHECK(error_of("").find("found the end") != std::string::npos);
  CHECK(error_of("a not b").find("\"in\" after \"not\"") != std::string::npos);
}

TEST_CASE("Expression: hostile text ends in an error, not in a crash") {
  const auto fails = [](std::string_view text) {
    std::string error;
    const auto parsed = Expression::try_parse(text, error);
    return parsed && !parsed->try_evaluate({}, &error) && !error.empty();
  };
  CHECK(fails("9**9**9"));
  CHECK(fails("list(range(10**12))"));
  CHECK(fails("sum(range(10**12))"));
  CHECK(fails("[i for i in range(10**9)]"));
  CHECK(fails("[0] * 10**15"));
  CHECK(fails("[i for a in range(10**5) for i in range(10**5) if i < 0]"));
  CHECK(fails("[1] in [[2] * 1000000 for i in range(100)]"));
  CHECK(fails("9223372036854775807 + 1"));
  CHECK(fails("-(-9223372036854775807 - 1)"));
  CHECK(fails("(-9223372036854775807 - 1) // -1"));
  CHECK(fails("int(1e300)"));
  CHECK(fails("range(0, 1, 0)"));
  CHECK(eval("(-9223372036854775807 - 1) % -1") == Value{std::int64_t{0}});
  CHECK(eval("10**15 in range(10**18)") == Value{true});
  CHECK(eval("len(range(10**12))") == Value{std::int64_t{1000000000000}});
  error_of(std::string(100000, '('));
  error_of(std::string(100000, '-') + "1");
  error_of(std::string(100000, '[') + "1");
  std::string nots;
  for (int i = 0; i < 100000; ++i) nots += "not ";
  error_of(nots + "1");
  std::string sum = "1";
  for (int i = 0; i < 100000; ++i) sum += "+1";
  error_of(sum);
  std::string chain = "a";  // shares its middles, so a naive compiler would double the program per level
  for (int i = 0; i < 60; ++i) chain = "0 < (" + chain + ") < 2";
  std::string error;
  (void)Expression::try_parse(chain, error);
  std::string ands = "1";
  for (int i = 0; i < 20000; ++i) ands += " and 1";
  CHECK(Expression::parse(ands).evaluate_bool());
  CHECK(Expression::try_parse(std::string(2 << 20, ' '), error) == std::nullopt);
}

TEST_CASE("Expression: a dot joins the parts of a name, and nothing else") {
  const Expression e = Expression::parse("sass.loop.tensor_core + _a.b2 * .5 + 1.5");
  CHECK(e.names() == std::vector<std::string>{"sass.loop.tensor_core", "_a.b2"});
  CHECK(e.evaluate_number(std::vector<double>{3, 4}) == 6.5);
  std::string error;
  for (const char* text : {"a.", "a..b", "a. b", "a .b", "a.5", ".a", "a.b.", "1.a"}) {
    CAPTURE(text);
    CHECK(!Expression::try_parse(text, error));
  }
}

TEST_CASE("Expression: mutated formulas pass the fuzz target") {
  Rng rng(11);
  const std::string alphabet = " abx0123456789+-*/%()[],.<>=!'\"\\eE_&|\n";
  const std::vector<std::string> words{"and", "or",     "not",  "in", "if", "else",
                                       "for", "range(", "min(", "**", "//", "9**9"};
  for (int round = 0; round < 20000; ++round) {
    std::string text = cases[rng.below(std::size(cases))].text;
    for (std::uint64_t edit = 1 + rng.below(4); edit > 0; --edit) {
      const std::size_t at = rng.below(text.size() + 1);
      switch (rng.below(4)) {
        case 0:
          text.insert(at, 1, alphabet[rng.below(alphabet.size())]);
          break;
        case 1:
          text.insert(at, " " + words[rng.below(words.size())] + " ");
          break;
        case 2:
          text.erase(at, 1 + rng.below(3));
          break;
        default:
          text.insert(at, text.substr(rng.below(text.size() + 1), rng.below(12)));
          break;
      }
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
}
