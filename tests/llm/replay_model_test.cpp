// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/replay_model.hpp"

#include <doctest/doctest.h>

#include "support/scripted_chat.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

TEST_CASE("ReplayModel: answers from a folder, and says what is not in it") {
  const TemporaryFolder folder;
  const ExchangeFolder exchanges(folder.path().string());
  exchanges.keep(ScriptedChat::question("a"), ScriptedChat::reply("b"));
  const ReplayModel model(folder.path().string());
  CHECK(model.chat(ScriptedChat::question("a")).reply->text == "b");
  const ChatResult missing = model.chat(ScriptedChat::question("c", "planner"));
  CHECK(missing.error.failure == ChatFailure::not_recorded);
  CHECK(missing.error.text.find("planner") != std::string::npos);
  CHECK(missing.error.text.find(exchanges.digest(ScriptedChat::question("c", "planner"))) !=
        std::string::npos);
}
