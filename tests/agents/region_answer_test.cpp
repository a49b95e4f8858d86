// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/region_answer.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

namespace {

RegionAnswer answer(const std::string& text, FinishReason finish = FinishReason::stop) {
  ChatReply reply;
  reply.text = text;
  reply.finish = finish;
  return read_region_answer(reply, 1000);
}

ReplyFault fault(const std::string& text, FinishReason finish = FinishReason::stop) {
  const RegionAnswer found = answer(text, finish);
  CHECK(found.detail.empty() == (found.fault == ReplyFault::none));
  return found.fault;
}

}  // namespace

TEST_CASE("read_region_answer: one block of code, prose around it") {
  CHECK(answer("Sure:\n```cpp\nint a;\nint b;\n```\nDone, and `int c` is not needed.").text ==
        "int a;\nint b;\n");
  CHECK(answer("~~~\nint a;\n~~~").text == "int a;\n");
  CHECK(answer("````c++\n```\nint a;\n```\n````").text == "```\nint a;\n```\n");
  CHECK(answer("```\n```").text.empty());
  CHECK_FALSE(answer("```\n```").unchanged);
  CHECK(answer("UNCHANGED").unchanged);
  CHECK(answer("  UNCHANGED.\n").unchanged);
  CHECK(answer("Nothing to do here: UNCHANGED").unchanged);
}

TEST_CASE("read_region_answer: tunables in a block of their own") {
  const RegionAnswer found = answer(
      "```cpp\nint a[TILE];\n```\n```json\n{\"tunables\": {\"TILE\": [2, 4]}, \"constraints\": [\"TILE > "
      "1\"]}\n```");
  CHECK(found.fault == ReplyFault::none);
  CHECK(found.text == "int a[TILE];\n");
  REQUIRE(found.declared.tunables.size() == 1);
  CHECK(found.declared.tunables[0].name == "TILE");
  CHECK(found.declared.constraints.size() == 1);
  // A transformation declares its tunables itself, and may ask for a constraint on them.
  const RegionAnswer constraint =
      answer("```cpp\nint a[TILE];\n```\n```json\n{\"constraints\": [\"TILE > 1\"]}\n```");
  CHECK(constraint.text == "int a[TILE];\n");
  CHECK(constraint.declared.constraints == std::vector<std::string>{"TILE > 1"});
  const RegionAnswer wrong = answer("```cpp\nx\n```\n```json\n{\"tunables\": {\"tile\": [2]}}\n```");
  CHECK(wrong.fault == ReplyFault::bad_tunables);
  CHECK(wrong.detail.find("use capitals") != std::string::npos);
}

TEST_CASE("read_region_answer: faults have names") {
  CHECK(fault("") == ReplyFault::empty);
  CHECK(fault("   \n") == ReplyFault::empty);
  CHECK(fault("```\nx\n```", FinishReason::refusal) == ReplyFault::declined);
  CHECK(fault("I would unroll the loop.") == ReplyFault::no_code);
  CHECK(fault("Use ```x``` here") == ReplyFault::no_code);
  CHECK(fault("```cpp\nint a;\n") == ReplyFault::truncated);
  CHECK(fault("```cpp\nint a;\n``") == ReplyFault::truncated);
  CHECK(fault("Let me think", FinishReason::length) == ReplyFault::truncated);
  CHECK(fault("```\na\n```\n```\nb\n```") == ReplyFault::wrong_region);
  CHECK(fault("```\n" + std::string(2000, 'x') + "\n```") == ReplyFault::too_long);
}

TEST_CASE("read_region_answer: any text is read") {
  Rng rng(1);
  const std::string pieces[] = {"```", "\n",        "json", "cpp", "{\"tunables\"", ":", "{}", "}", "~~~",
                                " ",   "UNCHANGED", "x",    "`"};
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    const std::size_t count = rng.below(20);
    for (std::size_t i = 0; i < count; ++i) text += pieces[rng.below(std::size(pieces))];
    CAPTURE(text);
    (void)fault(text);
  }
}
