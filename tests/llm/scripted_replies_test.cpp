// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/scripted_replies.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "support/scripted_chat.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

std::string script(const TemporaryFolder& folder, const std::string& rules) {
  std::ofstream(folder.path() / "script.json")
      << "// a comment\n{\"kernelsearch_script\": 1, \"rules\": [" << rules << "]}";
  return folder.path().string();
}

}  // namespace

TEST_CASE("ScriptedReplies: the first rule that fits answers, always the same") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "long.md") << "from a file";
  CHECK_FALSE(ScriptedReplies::has_script(folder.path().string()));
  const ScriptedReplies model(script(folder, R"(
    {"role": "planner", "text": "plan"},
    {"role": "coder", "contains": ["tile", "loop"], "lacks": ["done"], "file": "long.md"},
    {"role": "reviewer", "after": "## Code", "contains": ["bad"], "text": "mend it"},
    {"repetition": 2, "text": "third"})"));
  CHECK(ScriptedReplies::has_script(folder.path().string()));
  const auto ask = [&](const std::string& text, const std::string& role, std::uint64_t repetition = 0) {
    ChatRequest request = ScriptedChat::question(text, role);
    request.repetition = repetition;
    return model.chat(request);
  };
  CHECK(ask("anything", "planner").reply->text == "plan");
  for (int i = 0; i < 2; ++i) CHECK(ask("tile the loop", "coder").reply->text == "from a file");
  CHECK(ask("done: tile the loop", "coder", 2).reply->text == "third");
  CHECK(ask("## Code bad", "reviewer").reply->text == "mend it");
  CHECK_FALSE(ask("## Code bad ## Code good", "reviewer"));
  CHECK_FALSE(ask("bad", "reviewer"));
  const ChatResult none = ask("tile", "coder");
  REQUIRE_FALSE(none);
  CHECK(none.error.failure == ChatFailure::not_recorded);
  CHECK(none.error.text.find("the role coder") != std::string::npos);
  CHECK(ask("abcdefg", "planner").reply->usage.input == 2);
}

TEST_CASE("ScriptedReplies: a script that cannot be used says where") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(ScriptedReplies(folder.path().string()), ConfigError);
  const auto fails = [&](const std::string& rules, const std::string& part) {
    CAPTURE(rules);
    try {
      const ScriptedReplies model(script(folder, rules));
      FAIL("it was read");
    } catch (const ConfigError& error) {
      CHECK_MESSAGE(std::string(error.what()).find(part) != std::string::npos, error.what());
    }
  };
  fails(R"({"text": "a"}, {"role": "coder"})", "in rule 2: give either");
  fails(R"({"text": "a", "file": "b"})", "cannot be read");
  fails(R"({"file": "../secret"})", "next to the script");
  fails(R"({"text": "a", "rol": "coder"})", "unknown key \"rol\"");
  fails(R"({"text": 3})", "in rule 1");
}
