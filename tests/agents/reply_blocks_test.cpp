// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/reply_blocks.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

TEST_CASE("reply blocks: several, with languages, prose around") {
  const std::string reply =
      "Sure!\n```cpp device\nint a;\n```\nand\n~~~~ JSON\n{\"x\": 1}\n```\nstill\n~~~~\nDone with `inline` "
      "and\n"
      "```not a fence``` text.\n";
  const auto blocks = code_blocks(reply);
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].language == "cpp");
  CHECK(blocks[0].info == "device");
  CHECK(blocks[0].text == "int a;\n");
  CHECK(blocks[0].closed);
  CHECK(blocks[1].language == "json");
  CHECK(blocks[1].text == "{\"x\": 1}\n```\nstill\n");
  const std::string prose = prose_of(reply, blocks);
  CHECK(prose.find("Sure!") == 0);
  CHECK(prose.find("and\nDone") != std::string::npos);
  CHECK(prose.find("int a") == std::string::npos);
}

TEST_CASE("reply blocks: truncated, forgotten and nested fences") {
  auto blocks = code_blocks("```cpp\nint a;");
  REQUIRE(blocks.size() == 1);
  CHECK(!blocks[0].closed);
  CHECK(blocks[0].text == "int a;\n");

  blocks = code_blocks("```cpp\nint a;\n```json\n{}\n```\n");
  REQUIRE(blocks.size() == 2);
  CHECK(!blocks[0].closed);
  CHECK(blocks[1].closed);
  CHECK(blocks[1].text == "{}\n");

  blocks = code_blocks("````\nx\n```\ny\n````\n");
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].text == "x\n```\ny\n");

  blocks = code_blocks("```markdown\nHere:\n```cpp\nint a;\n```\n```cpp\nint b;\n```\nbye\n```\n");
  REQUIRE(blocks.size() == 2);
  CHECK(blocks[0].text == "int a;\n");
  CHECK(blocks[1].text == "int b;\n");

  blocks = code_blocks("1. first\n   ```cpp\n   int a;\n   ```\n");
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].closed);

  blocks = code_blocks("```\n```\n");
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].text.empty());
  CHECK(code_blocks("").empty());
  CHECK(code_blocks("no code").empty());
}

TEST_CASE("reply blocks: carriage returns") {
  const auto blocks = code_blocks("```cpp\r\nint a;\r\n```\r\n");
  REQUIRE(blocks.size() == 1);
  CHECK(blocks[0].language == "cpp");
  CHECK(blocks[0].closed);
}

TEST_CASE("reply blocks: any text is taken, and blocks lie in it in order") {
  Rng rng(3);
  const std::string parts[] = {"```",      "````",    "~~~", "\n",   "\n```\n", "cpp",
                               "markdown", " device", "x",   "\r\n", "``"};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::uint64_t i = rng.below(24); i > 0; --i) text += parts[rng.below(std::size(parts))];
    std::size_t at = 0;
    const auto blocks = code_blocks(text);
    for (const CodeBlock& block : blocks) {
      CHECK_GE(block.begin, at);
      CHECK_GE(block.end, block.begin);
      CHECK_LE(block.end, text.size());
      at = block.end;
    }
    CHECK_LE(prose_of(text, blocks).size(), text.size());
  }
}
