// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/exchange_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "support/scripted_chat.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
namespace fs = std::filesystem;

namespace {

std::string all_text(const fs::path& folder) {
  std::string text;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    text += entry.path().string();
    std::ifstream file(entry.path(), std::ios::binary);
    if (entry.is_regular_file()) text.append(std::istreambuf_iterator<char>(file), {});
  }
  return text;
}

fs::path only_file(const fs::path& folder) {
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) return entry.path();
  return {};
}

}  // namespace

TEST_CASE("ExchangeFolder: what was kept is found as it was") {
  const TemporaryFolder folder;
  const ExchangeFolder exchanges((folder / "a/b").string());
  const ChatRequest request = ScriptedChat::question("why? \xC3\xA9\n");
  CHECK_FALSE(exchanges.find(request));
  ChatResult result = ScriptedChat::reply(
      "so \"there\"\n", {.input = 1, .output = 2, .cached = 3, .cache_written = 4, .reasoning = 5},
      FinishReason::length);
  result.reply->seconds = 0.1 + 0.2;
  result.reply->attempts = 3;
  const ChatResult kept = exchanges.keep(request, result);
  CHECK_FALSE(kept.reply->replayed);
  CHECK(kept.reply->text == result.reply->text);
  const std::optional<ChatResult> found = exchanges.find(request);
  REQUIRE(found);
  REQUIRE(*found);
  CHECK(found->reply->replayed);
  CHECK(found->reply->text == result.reply->text);
  CHECK(found->reply->finish == FinishReason::length);
  CHECK(found->reply->usage == result.reply->usage);
  CHECK(found->reply->seconds == result.reply->seconds);
  CHECK(found->reply->attempts == 3);
  CHECK(found->reply->model == "scripted");
  CHECK(exchanges.size() == 1);

  ChatResult failed = ChatResult::failed(ChatFailure::rate_limited, "slow down");
  failed.error.http_status = 429;
  failed.error.usage.input = 9;
  exchanges.keep(request, failed);
  const ChatResult error = *exchanges.find(request);
  CHECK_FALSE(error);
  CHECK(error.error.failure == ChatFailure::rate_limited);
  CHECK(error.error.http_status == 429);
  CHECK(error.error.usage.input == 9);
  CHECK(exchanges.size() == 1);
}

TEST_CASE("ExchangeFolder: all that changes a reply changes the digest, and nothing else") {
  const ExchangeFolder exchanges("unused");
  const ChatRequest request = ScriptedChat::question("q");
  CHECK(exchanges.digest(request).size() == 64);
  // Recordings are kept for years: another digest for an equal question would lose them.
  CHECK(exchanges.canonical(request) ==
        R"({"role":"coder","model":"scripted","messages":[{"speaker":"user","text":"q"}],"temperature":null,)"
        R"("max_tokens":4096,"stop":[],"json_schema":"","json_schema_name":"","repetition":0})");
  std::vector<ChatRequest> others(9, request);
  others[0].role = "planner";
  others[1].model = "other";
  others[2].messages[0].text = "q ";
  others[3].temperature = 0.0;
  others[4].max_tokens = 1;
  others[5].stop = {"x"};
  others[6].json_schema = "{}";
  others[7].repetition = 1;
  others[8].messages[0].speaker = Speaker::system;
  for (const ChatRequest& other : others) CHECK(exchanges.digest(other) != exchanges.digest(request));
  ChatRequest stable = request;
  stable.messages[0].stable = true;
  CHECK(exchanges.digest(stable) == exchanges.digest(request));
}

TEST_CASE("ExchangeFolder: keys are never written") {
  const TemporaryFolder folder;
  Redactor redactor;
  redactor.add("the-secret-value");
  const ExchangeFolder exchanges(folder.path().string(), redactor);
  const ChatRequest request = ScriptedChat::question("do not tell the-secret-value");
  const ChatResult kept =
      exchanges.keep(request, ScriptedChat::reply("it is the-secret-value and sk-0123456789abcdefghij"));
  exchanges.keep(ScriptedChat::question("2"),
                 ChatResult::failed(ChatFailure::server, "Bearer 0123456789abcdefghij"));
  const std::string text = all_text(folder.path());
  CHECK(text.find("the-secret-value") == std::string::npos);
  CHECK(text.find("0123456789abcdefghij") == std::string::npos);
  // A run sees what its replay will see.
  CHECK(kept.reply->text == exchanges.find(request)->reply->text);
}

TEST_CASE("ExchangeFolder: text that is no UTF-8 is kept as far as it is") {
  const TemporaryFolder folder;
  const ExchangeFolder exchanges(folder.path().string());
  const ChatRequest request = ScriptedChat::question("bad \xFF byte");
  const ChatResult kept = exchanges.keep(request, ScriptedChat::reply("r"));
  CHECK(exchanges.find(request)->reply->text == "r");
}

TEST_CASE("ExchangeFolder: a damaged or strange file is said, a draft is no exchange") {
  const TemporaryFolder folder;
  const ExchangeFolder exchanges(folder.path().string());
  const ChatRequest request = ScriptedChat::question("q");
  exchanges.keep(request, ScriptedChat::reply("r"));
  const fs::path file = only_file(folder.path());
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t size = 1; size < text.size() - 1; size += 7) {
    std::ofstream(file) << text.substr(0, size);
    CHECK_THROWS_AS((void)exchanges.find(request), ConfigError);
  }
  std::ofstream(file).close();
  CHECK_FALSE(exchanges.find(request));  // what a loss of power may leave
  std::string other = text;
  other.replace(other.find("\"q\""), 3, "\"p\"");
  std::ofstream(file) << other;
  CHECK_THROWS_AS((void)exchanges.find(request), ConfigError);
  fs::rename(file, file.string() + ".1.tmp");
  CHECK_FALSE(exchanges.find(request));
  CHECK(exchanges.size() == 0);
}

TEST_CASE("ExchangeFolder: each exchange is visited once, failures too; what cannot be read is left out") {
  const TemporaryFolder folder;
  const ExchangeFolder exchanges((folder / "kept").string());
  int visits = 0;
  const auto count = [&](const std::string&, const std::string&, const ChatResult&) { ++visits; };
  exchanges.each(count);  // no folder yet
  CHECK(visits == 0);
  std::multiset<std::string> wanted, seen;
  for (int i = 0; i < 20; ++i) {
    ChatRequest request = ScriptedChat::question("q" + std::to_string(i), i % 2 == 0 ? "planner" : "coder");
    request.model = "m" + std::to_string(i % 3);
    const bool fails = i % 5 == 0;
    const std::string text = "r" + std::to_string(i);
    exchanges.keep(request, fails ? ChatResult::failed(ChatFailure::server, text)
                                  : ScriptedChat::reply(text, {.input = 7, .output = 3}));
    wanted.insert(request.role + ' ' + request.model + ' ' + text + (fails ? " failed" : " 7 3 replayed"));
  }
  exchanges.keep(ScriptedChat::question("q1", "coder"), ScriptedChat::reply("of no model"));
  wanted.insert("coder " + ScriptedChat::question("").model + " of no model 0 0 replayed");
  const auto collect = [&](const std::string& role, const std::string& model, const ChatResult& result) {
    std::string one = role + ' ' + model + ' ';
    if (result)
      one += result.reply->text + ' ' + std::to_string(result.reply->usage.input) + ' ' +
             std::to_string(result.reply->usage.output) + (result.reply->replayed ? " replayed" : "");
    else
      one += result.error.text + " failed";
    seen.insert(std::move(one));
  };
  exchanges.each(collect);
  CHECK(seen == wanted);
  CHECK(exchanges.size() == wanted.size());
  // A cut file, one that is none of ours, a draft and a stranger's folder stop nothing.
  std::ofstream(folder / "kept/cut.json") << "{\"kernelsearch_exchange\": 1, \"ques";
  std::ofstream(folder / "kept/other.json") << "[1, 2]";
  std::ofstream(folder / "kept/half.json") << R"({"question": {"role": "r", "model": "m"}})";
  std::ofstream(folder / "kept/x.json.1.tmp") << "{}";
  fs::create_directories(folder / "kept/empty");
  seen.clear();
  exchanges.each(collect);
  CHECK(seen == wanted);
}

TEST_CASE("ExchangeFolder: several threads keep the same question") {
  const TemporaryFolder folder;
  const ExchangeFolder exchanges(folder.path().string());
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k) {
        exchanges.keep(ScriptedChat::question("q"), ScriptedChat::reply(std::string(5000, 'r')));
        if (exchanges.find(ScriptedChat::question("q"))->reply->text.size() != 5000) std::abort();
      }
    });
  threads.clear();
  CHECK(exchanges.size() == 1);
}

TEST_CASE("ExchangeFolder: a folder that cannot be written says so") {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  const ExchangeFolder exchanges((folder / "file/below").string());
  CHECK_THROWS_AS((void)exchanges.keep(ScriptedChat::question("q"), ScriptedChat::reply("r")), ConfigError);
}
