// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/shell_word.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

namespace {

std::string printed_by_shell(const std::string& words) {
  std::string text;
  std::FILE* pipe = popen(("printf '%s|' " + words).c_str(), "r");
  REQUIRE(pipe != nullptr);
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  CHECK(pclose(pipe) == 0);
  return text;
}

}  // namespace

TEST_CASE("shell_word: a shell reads back each text as one word") {
  for (const char* text : {"", "plain", "two words", "it's", "'", "''", "$HOME", "`id`", "a\nb", "*", "~",
                           "\\", "\"", "#x", "-n"})
    CHECK(printed_by_shell(shell_word(text)) == std::string(text) + "|");
  Rng rng(3);
  const std::string odd = "'\"\\$`*?[]{}()|&;#~ \t\n!=a%";  // no < and >: a broken word is to write no file
  for (int round = 0; round < 20; ++round) {
    std::string words, wanted;
    for (int word = 0; word < 20; ++word) {
      std::string text;
      for (std::uint64_t i = rng.below(9); i > 0; --i) text += odd[rng.below(odd.size())];
      words += shell_word(text) + " ";
      wanted += text + "|";
    }
    CHECK(printed_by_shell(words) == wanted);
  }
}

TEST_CASE("shell_word: a text is never a keyword or an assignment") {
  CHECK(shell_word("if") == "'if'");
  CHECK(shell_word("A=b") == "'A=b'");
}

TEST_CASE("readable_word: in quotes only where it needs them") {
  CHECK(readable_word("-O3") == "-O3");
  CHECK(readable_word("-DA=b/c.d,e") == "-DA=b/c.d,e");
  for (const char* text : {"", "a b", "{0,1}", "$x", "a;b", "a'b"})
    CHECK(readable_word(text) == shell_word(text));
}
