// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/recorded_model.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "support/scripted_chat.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

ScriptedChat echo() {
  return ScriptedChat(
      [](const ChatRequest& request) { return ScriptedChat::reply("echo " + request.messages[0].text); });
}

}  // namespace

TEST_CASE("RecordedModel: record asks always, replay never, replay_else_ask what is new") {
  const TemporaryFolder folder;
  const auto exchanges = std::make_shared<const ExchangeFolder>(folder.path().string());
  const ScriptedChat script = echo();
  RecordedModel<ScriptedChat> record(script, exchanges, RecordMode::record);
  RecordedModel<ScriptedChat> replay(script, exchanges, RecordMode::replay);
  RecordedModel<ScriptedChat> either(script, exchanges, RecordMode::replay_else_ask);
  const ChatRequest a = ScriptedChat::question("a"), b = ScriptedChat::question("b");

  CHECK(replay.chat(a).error.failure == ChatFailure::not_recorded);
  CHECK(record.chat(a).reply->text == "echo a");
  CHECK(record.chat(a).reply->text == "echo a");
  CHECK(script.asked().size() == 2);
  CHECK(replay.chat(a).reply->replayed);
  CHECK(either.chat(a).reply->replayed);
  CHECK(script.asked().size() == 2);
  CHECK_FALSE(either.chat(b).reply->replayed);
  CHECK(either.chat(b).reply->replayed);
  CHECK(script.asked().size() == 3);
  CHECK(to_string(RecordMode::replay_else_ask) == "replay_else_ask");
}

TEST_CASE("RecordedModel: failures are replayed, and asked again where that is allowed") {
  const TemporaryFolder folder;
  const auto exchanges = std::make_shared<const ExchangeFolder>(folder.path().string());
  bool down = true;
  const ScriptedChat script([&](const ChatRequest&) {
    return down ? ChatResult::failed(ChatFailure::server, "down") : ScriptedChat::reply("up");
  });
  RecordedModel<ScriptedChat> either(script, exchanges, RecordMode::replay_else_ask);
  RecordedModel<ScriptedChat> replay(script, exchanges, RecordMode::replay);
  const ChatRequest a = ScriptedChat::question("a");
  CHECK_FALSE(either.chat(a));
  CHECK(replay.chat(a).error.failure == ChatFailure::server);
  down = false;
  CHECK(either.chat(a).reply->text == "up");
  CHECK(replay.chat(a).reply->text == "up");
}

TEST_CASE("RecordedModel: a cancelled call leaves nothing") {
  const TemporaryFolder folder;
  const auto exchanges = std::make_shared<const ExchangeFolder>(folder.path().string());
  const ScriptedChat script(
      [](const ChatRequest&) { return ChatResult::failed(ChatFailure::cancelled, "stop"); });
  RecordedModel<ScriptedChat> either(script, exchanges, RecordMode::replay_else_ask);
  CHECK(either.chat(ScriptedChat::question("a")).error.failure == ChatFailure::cancelled);
  CHECK(exchanges->size() == 0);
}

TEST_CASE("RecordedModel: equal questions at the same time are paid once") {
  const TemporaryFolder folder;
  const auto exchanges = std::make_shared<const ExchangeFolder>(folder.path().string());
  const ScriptedChat script = echo();
  RecordedModel<ScriptedChat> either(script, exchanges, RecordMode::replay_else_ask);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([&, i] { (void)either.chat(ScriptedChat::question(std::to_string(i % 4))); });
  threads.clear();
  CHECK(script.asked().size() == 4);
}

TEST_CASE("RecordedModel: a damaged exchange is not paid for again in silence") {
  const TemporaryFolder folder;
  const auto exchanges = std::make_shared<const ExchangeFolder>(folder.path().string());
  const ScriptedChat script = echo();
  RecordedModel<ScriptedChat> either(script, exchanges, RecordMode::replay_else_ask);
  CHECK(either.chat(ScriptedChat::question("a")));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
    if (entry.is_regular_file()) std::ofstream(entry.path()) << "{";
  const ChatResult damaged = either.chat(ScriptedChat::question("a"));
  CHECK(damaged.error.failure == ChatFailure::configuration);
  CHECK(damaged.error.text.find("damaged") != std::string::npos);
  CHECK(script.asked().size() == 1);
}
