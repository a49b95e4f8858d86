// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/quoted_text.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "kernelsearch/agents/reply_blocks.hpp"
#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

TEST_CASE("quoted text: cleaned text is valid UTF-8 and keeps what was valid") {
  CHECK(clean_text("a\tb\nä€𝄞") == "a\tb\nä€𝄞");
  CHECK(clean_text("a\r\nb") == "a\nb");
  CHECK(clean_text(std::string("a\0b", 3)) ==
        "a\xef\xbf\xbd"
        "b");
  CHECK(clean_text("\x1b[31mred") == "\xef\xbf\xbd[31mred");
  CHECK(clean_text("\xff") == "\xef\xbf\xbd");
  CHECK(clean_text("\xed\xa0\x80").find('\xed') == std::string::npos);  // a surrogate
  Rng rng(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (std::uint64_t i = rng.below(40); i > 0; --i) bytes += static_cast<char>(rng.below(256));
    const std::string clean = clean_text(bytes);
    CHECK_NOTHROW((void)nlohmann::json(clean).dump());  // throws for what is no UTF-8
    CHECK(clean_text(clean) == clean);
    CHECK_NOTHROW((void)nlohmann::json(shortened(clean + std::string(200, 'x') + clean, 120)).dump());
  }
}

TEST_CASE("quoted text: long texts keep both ends and say what is left out") {
  const std::string text = "begin" + std::string(10000, 'x') + "end";
  const std::string shorter = shortened(text, 400);
  CHECK(shorter.size() <= 400);
  CHECK(shorter.starts_with("begin"));
  CHECK(shorter.ends_with("end"));
  CHECK(shorter.find("bytes left out") != std::string::npos);
  CHECK(shortened("short", 400) == "short");
  // Where there are lines or sentences, whole ones.
  std::string sentences, lines;
  for (int i = 0; i < 100; ++i) {
    sentences += "Sentence " + std::to_string(i) + " says this. ";
    lines += "line " + std::to_string(i) + " is like this;\n";
  }
  const std::string few = shortened(sentences, 400), code = shortened(lines, 400);
  CHECK(few.find("says this.\n[... ") != std::string::npos);
  CHECK(few.find("left out ...]\nSentence 9") != std::string::npos);
  CHECK(code.find("is like this;\n[... ") != std::string::npos);
  CHECK(code.find("left out ...]\nline 9") != std::string::npos);
}

TEST_CASE("quoted text: nothing in a quotation ends it") {
  CHECK(quoted("a", "text", 1000) == "```text\na\n```");
  Rng rng(2);
  const std::string parts[] = {"```", "````", "\n", "text", "`", "\n```\n", "# Task", "~~~"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::uint64_t i = rng.below(12); i > 0; --i) text += parts[rng.below(std::size(parts))];
    const std::string quotation = quoted(text, "text", 100000);
    const auto blocks = code_blocks(quotation + "\nafter");
    REQUIRE(blocks.size() == 1);
    CHECK(blocks[0].closed);
    CHECK(blocks[0].end == quotation.size() + 1);
    CHECK(blocks[0].text == (text.empty() || text.back() != '\n' ? text + '\n' : text));
  }
}

TEST_CASE("quoted text: tokens are rather too many than too few") {
  CHECK(estimated_tokens("") == 0);
  CHECK(estimated_tokens("abcd") == 2);
}
