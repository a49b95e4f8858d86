// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/raised_limit.hpp"

#include <doctest/doctest.h>

#include "support/scripted_chat.hpp"

using namespace kernelsearch;

namespace {

/// Thinks for `thinking` tokens before it says anything.
ScriptedChat thinker(std::uint32_t thinking) {
  return ScriptedChat([thinking](const ChatRequest& request) {
    const std::uint32_t used = std::min(thinking, request.max_tokens);
    return request.max_tokens > thinking
               ? ScriptedChat::reply("at last", {.input = 10, .output = used + 5})
               : ScriptedChat::reply("", {.input = 10, .output = used}, FinishReason::length);
  });
}

}  // namespace

TEST_CASE("RaisedLimit: a reply that thinking has eaten is asked for once more, with more room") {
  const ScriptedChat script = thinker(150);
  RaisedLimit<ScriptedChat> model(script, 1000);
  ChatRequest request = ScriptedChat::question("hard");
  request.max_tokens = 100;
  const ChatResult result = model.chat(request);
  REQUIRE(result);
  CHECK(result.reply->text == "at last");
  CHECK(result.reply->attempts == 1);
  CHECK(result.reply->usage.input == 20);
  CHECK(result.reply->usage.output == 100 + 155);
  REQUIRE(script.asked().size() == 2);
  CHECK(script.asked()[1].max_tokens == 400);
}

TEST_CASE("RaisedLimit: once, and never beyond the most") {
  const ScriptedChat endless = thinker(100000);
  ChatRequest request = ScriptedChat::question("hard");
  request.max_tokens = 100;
  CHECK(RaisedLimit<ScriptedChat>(endless, 250).chat(request).reply->finish == FinishReason::length);
  REQUIRE(endless.asked().size() == 2);
  CHECK(endless.asked()[1].max_tokens == 250);
  const ScriptedChat at_most = thinker(100000);
  CHECK(RaisedLimit<ScriptedChat>(at_most, 100).chat(request));
  CHECK(at_most.asked().size() == 1);
}

TEST_CASE("RaisedLimit: what is cut but not empty, or failed, is left alone") {
  const ScriptedChat cut(
      [](const ChatRequest&) { return ScriptedChat::reply("half", {}, FinishReason::length); });
  CHECK(RaisedLimit<ScriptedChat>(cut, 9000).chat(ScriptedChat::question("q")).reply->text == "half");
  CHECK(cut.asked().size() == 1);
  const ScriptedChat down([](const ChatRequest&) { return ChatResult::failed(ChatFailure::server, "no"); });
  CHECK_FALSE(RaisedLimit<ScriptedChat>(down, 9000).chat(ScriptedChat::question("q")));
  CHECK(down.asked().size() == 1);
}
