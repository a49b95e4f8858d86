// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/policy_text.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

namespace policy_text_test {

std::string fault_of(std::string_view text) {
  const Result<PolicyText> read = try_parse_policy_text(text);
  return read ? "read as " + to_string(*read) : read.error().text();
}

std::string canonical(std::string_view text) {
  const Result<PolicyText> read = try_parse_policy_text(text);
  return read ? to_string(*read) : read.error().text();
}

/// Up to `most` characters that mean something in the text form, or nothing at all.
std::string random_string(Rng& rng, std::size_t most) {
  static constexpr std::string_view characters = "ab_Z09.+-=,()[]\"'\\ \n\xc3\xa9true";
  std::string text;
  for (std::size_t n = rng.below(most + 1); n > 0; --n) text += characters[rng.below(characters.size())];
  return text;
}

PolicyOptionValue random_value(Rng& rng) {
  switch (rng.below(5)) {
    case 0:
      return rng.below(2) == 0;
    case 1:
      return static_cast<std::int64_t>(rng.below(1ULL << 63)) * (rng.below(2) == 0 ? 1 : -1);
    case 2:
      return (rng.uniform() - 0.5) * (rng.below(2) == 0 ? 1.0 : 1e30);
    case 3:
      return random_string(rng, 8);
    default:
      break;
  }
  std::vector<std::string> strings;
  for (std::size_t n = rng.below(4); n > 0; --n) strings.push_back(random_string(rng, 5));
  return strings;
}

PolicyText random_policy(Rng& rng) {
  PolicyText policy{"p" + std::to_string(rng.below(9))};
  for (std::size_t n = rng.below(4); n > 0; --n)
    policy.options.emplace_back("option_" + std::to_string(n), random_value(rng));
  return policy;
}

}  // namespace policy_text_test

TEST_CASE("policy_text: a name, or a name with options of every type") {
  const auto read = try_parse_policy_text(
      " genetic ( population = 40,crossover=2.5e-1, default_first=true,neighbourhood=adjacent,"
      R"( warps="num \"w\\" , single='it"s', none=[], sizes=[a, "b c" ,'d'], low=-3 ) )");
  REQUIRE_MESSAGE(read, read.error().text());
  CHECK(read->name == "genetic");
  const std::vector<std::string> none, sizes{"a", "b c", "d"};
  CHECK(read->options == PolicyOptionValues{{"population", std::int64_t{40}},
                                            {"crossover", 0.25},
                                            {"default_first", true},
                                            {"neighbourhood", std::string("adjacent")},
                                            {"warps", std::string("num \"w\\")},
                                            {"single", std::string("it\"s")},
                                            {"none", none},
                                            {"sizes", sizes},
                                            {"low", std::int64_t{-3}}});
  CHECK(to_string(*read) ==
        R"x(genetic(population=40, crossover=0.25, default_first=true, neighbourhood=adjacent, )x"
        R"x(warps="num \"w\\", single="it\"s", none=[], sizes=[a, "b c", d], low=-3))x");
  CHECK(policy_text_test::canonical("genetic") == "genetic");
  CHECK(policy_text_test::canonical(" genetic ( ) ") == "genetic");
  CHECK(policy_text_test::canonical("p(a=1.0,b=1e300,c='true',d='')") ==
        "p(a=1.0, b=1e+300, c=\"true\", d=\"\")");
  CHECK(policy_name(" genetic (population=40)") == "genetic");
  CHECK(policy_name("genetic") == "genetic");
}

TEST_CASE("policy_text: what is wrong, where, and what to write instead") {
  const std::string begin = "kernelsearch: ";
  CHECK(policy_text_test::fault_of("") ==
        begin + "a policy has no name: , character 1; write NAME or NAME(OPTION=VALUE, ...)");
  CHECK(policy_text_test::fault_of("(a=1)") ==
        begin + "a policy has no name: (a=1), character 1; write NAME or NAME(OPTION=VALUE, ...)");
  CHECK(policy_text_test::fault_of("p(a=1") ==
        begin + "the options of a policy are not closed: p(a=1, character 6; end them with `)`");
  CHECK(
      policy_text_test::fault_of("p(a=1 b=2)") ==
      begin +
          "the options of a policy are separated by commas: p(a=1 b=2), character 7; write `,` or `)` here");
  CHECK(policy_text_test::fault_of("p(a=1) x") ==
        begin +
            "something stands behind the options of a policy: p(a=1) x, character 8; end the text with `)`");
  CHECK(policy_text_test::fault_of("p(a=1,)") ==
        begin + "an option of a policy has no name: p(a=1,), character 7; write OPTION=VALUE");
  CHECK(policy_text_test::fault_of("p(40)") ==
        begin + "an option of a policy has no name: p(40), character 3; write OPTION=VALUE");
  CHECK(policy_text_test::fault_of("p(a)") ==
        begin + "an option of a policy has no value: p(a), character 4; write a=VALUE");
  CHECK(policy_text_test::fault_of("p(a=)") ==
        begin +
            "an option of a policy has no value: p(a=), character 5; write true, false, a number, a word, a "
            "string in quotes or a list in brackets");
  CHECK(policy_text_test::fault_of("p(a=1,a=2)") ==
        begin + "an option of a policy is given twice: p(a=1,a=2), character 7; give a once");
  CHECK(policy_text_test::fault_of("p(a=9223372036854775808)") ==
        begin +
            "a whole number is beyond 64 bits: p(a=9223372036854775808), character 5; give a smaller one");
  for (const char* text : {"p(a=1x)", "p(a=1e999)", "p(a=+1)", "p(a=-)"})
    CHECK(policy_text_test::fault_of(text) == begin + "a value that is neither a number nor a word: " + text +
                                                  ", character 5; write strings in quotes");
  CHECK(policy_text_test::fault_of("p(a=[b,1])") ==
        begin +
            "an entry of a list that is not a string: p(a=[b,1]), character 8; write words or strings in "
            "quotes");
  CHECK(policy_text_test::fault_of("p(a=[b)") ==
        begin + "a list of a policy's option is not closed: p(a=[b), character 7; end it with `]`");
  CHECK(policy_text_test::fault_of("p(a='b)") ==
        begin +
            "a string of a policy's option is not closed: p(a='b), character 5; end it "
            "with the quote it begins with");
  CHECK(policy_text_test::fault_of(R"(p(a="\n"))") ==
        begin + "a backslash in a string of a policy's option stands before no quote: " + R"(p(a="\n"))" +
            ", character 6; write it twice");
}

TEST_CASE("policy_text: what is written reads back, and what reads is written the same") {
  Rng rng(7);
  for (int i = 0; i < 3000; ++i) {
    const PolicyText policy = policy_text_test::random_policy(rng);
    const std::string text = to_string(policy);
    CAPTURE(text);
    const Result<PolicyText> read = try_parse_policy_text(text);
    REQUIRE(read);
    CHECK(*read == policy);
  }
  for (int i = 0; i < 20000; ++i) {
    const std::string text = "p(" + policy_text_test::random_string(rng, 12) + ")";
    const Result<PolicyText> read = try_parse_policy_text(text);
    if (!read) {
      CHECK_FALSE(read.error().todo.empty());
      continue;
    }
    CAPTURE(text);
    const Result<PolicyText> again = try_parse_policy_text(to_string(*read));
    REQUIRE(again);
    CHECK(*again == *read);
  }
}

TEST_CASE("policy_text: a list is split at the commas between its policies") {
  using Texts = std::vector<std::string>;
  CHECK(split_policies("a(x=1,y=2),b") == Texts{"a(x=1,y=2)", "b"});
  CHECK(split_policies(" a , b(x=[c,d], y='e),f', z=\"\\\",g\") ") ==
        Texts{"a", "b(x=[c,d], y='e),f', z=\"\\\",g\")"});
  CHECK(split_policies("").empty());
  CHECK(split_policies(" ").empty());
  CHECK(split_policies("a,,b,") == Texts{"a", "", "b", ""});
  CHECK(split_policies("a(x=1,b") == Texts{"a(x=1,b"});  // whoever reads it says that it is not closed
  CHECK(split_policies("a),it's,b") == Texts{"a)", "it's", "b"});
  Rng rng(11);
  for (int i = 0; i < 500; ++i) {
    Texts texts;
    std::string list;
    for (std::size_t n = 1 + rng.below(4); n > 0; --n) {
      texts.push_back(to_string(policy_text_test::random_policy(rng)));
      list += (list.empty() ? "" : ",") + texts.back();
    }
    CAPTURE(list);
    CHECK(split_policies(list) == texts);
  }
}
