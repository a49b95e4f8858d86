// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/ledgered_model.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "support/scripted_chat.hpp"

using namespace kernelsearch;

TEST_CASE("LedgeredModel: books what comes and asks nothing that may be too much") {
  const auto ledger = std::make_shared<Ledger>(LedgerLimits{.tokens = 1000});
  ScriptedChat script(
      [](const ChatRequest&) { return ScriptedChat::reply("x", {.input = 100, .output = 400}); });
  LedgeredModel<ScriptedChat> model(script, ledger, "m");
  ChatRequest request = ScriptedChat::question("short");
  request.max_tokens = 450;
  CHECK(model.chat(request));
  CHECK(model.chat(request));
  const ChatResult refused = model.chat(request);
  CHECK(refused.error.failure == ChatFailure::budget);
  CHECK(script.asked().size() == 2);
  CHECK(ledger->total().usage.total() == 1000);
  CHECK(ledger->total().calls == 2);
}

TEST_CASE("LedgeredModel: many threads cannot pass a limit together") {
  const auto ledger = std::make_shared<Ledger>(LedgerLimits{.money = 1.0});
  ScriptedChat script([](const ChatRequest& request) {
    std::this_thread::yield();
    return ScriptedChat::reply("x", {.input = 5, .output = request.max_tokens});
  });
  LedgeredModel<ScriptedChat> model(script, ledger, "m", Prices{1, 100});
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      ChatRequest request = ScriptedChat::question("short");
      request.max_tokens = 700;
      for (int k = 0; k < 10; ++k) (void)model.chat(request);
    });
  threads.clear();
  CHECK(ledger->total().money <= 1.0);
  CHECK(ledger->total().money > 0.9);
}

TEST_CASE("LedgeredModel: a model that throws leaves no reservation behind") {
  const auto ledger = std::make_shared<Ledger>(LedgerLimits{.calls = 2});
  LedgeredModel<ScriptedChat> model(ScriptedChat([](const ChatRequest& request) -> ChatResult {
                                      if (request.messages[0].text == "throw") throw std::runtime_error("no");
                                      return ScriptedChat::reply("x");
                                    }),
                                    ledger, "m");
  CHECK_THROWS((void)model.chat(ScriptedChat::question("throw")));
  CHECK(ledger->total().failed == 1);
  CHECK(model.chat(ScriptedChat::question("fine")));
  CHECK_FALSE(model.chat(ScriptedChat::question("fine")));
}
