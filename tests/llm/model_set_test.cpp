// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/model_set.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "kernelsearch/llm/replay_model.hpp"
#include "support/approx.hpp"
#include "support/loopback_server.hpp"
#include "support/scripted_chat.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;
using nlohmann::json;

namespace {

void answer(const LoopbackServer::Request& asked, LoopbackServer::Peer& peer) {
  const json body = json::parse(asked.body);
  peer.answer(200, json({{"model", body.at("model")},
                         {"choices",
                          {{{"message",
                             {{"content", body.at("model").get<std::string>() + " @" +
                                              body.value("temperature", json()).dump()}}},
                            {"finish_reason", "stop"}}}},
                         {"usage", {{"prompt_tokens", 100}, {"completion_tokens", 10}}}})
                       .dump());
}

ModelFile file_for(const std::string& url, const std::string& more = "") {
  ::setenv("KERNELSEARCH_TEST_LLM", "test-secret-0123456789", 1);
  return parse_model_file(R"({"models": {
      "big": {"provider": "openai", "base_url": ")" +
                          url + R"(", "model": "big-1", "key_env": "KERNELSEARCH_TEST_LLM",
              "prices": {"input": 10, "output": 100}, "stream": false},
      "small": {"provider": "openai", "base_url": ")" +
                          url + R"(", "model": "small-1", "stream": false}},
      "default": "small",
      "roles": {"planner": {"model": "big", "temperature": 0.8}}}
      )" + more);
}

ModelSetOptions quick_set() {
  ModelSetOptions options;
  options.http.proxies = ProxySettings{};
  options.http.retry.attempts = 1;
  return options;
}

ChatRequest from(const char* role, const char* text = "q") {
  ChatRequest request = ScriptedChat::question(text, role);
  request.model.clear();
  request.max_tokens = 1000;
  return request;
}

std::string all_set_text(const std::filesystem::path& folder) {
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    if (entry.is_regular_file()) text.append(std::istreambuf_iterator<char>(file), {});
  }
  return text;
}

}  // namespace

TEST_CASE("ModelSet: roles find their models and temperatures, and the ledger has them apart") {
  LoopbackServer server(answer);
  const ModelSet models(file_for(server.url()), quick_set());
  CHECK(models.chat(from("planner")).reply->text == "big-1 @0.8");
  CHECK(models.chat(from("coder")).reply->text == "small-1 @null");
  ChatRequest named = from("coder");
  named.model = "big";
  CHECK(models.chat(named).reply->text == "big-1 @null");
  named.model = "huge";
  CHECK(models.chat(named).error.failure == ChatFailure::configuration);
  const std::vector<LedgerRow> rows = models.ledger().rows();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].role == "coder");
  CHECK(rows[0].model == "big");
  CHECK(rows[0].spending.money == approx(100 * 10e-6 + 10 * 100e-6));
  CHECK(models.ledger().total().calls == 3);
}

TEST_CASE("ModelSet: a budget in money stops before the call that could pass it") {
  LoopbackServer server(answer);
  ModelSetOptions options = quick_set();
  // One call may cost 0.1 for its 1000 tokens of reply, and costs 0.002.
  options.ledger = std::make_shared<Ledger>(LedgerLimits{.money = 0.1035});
  const ModelSet models(file_for(server.url()), options);
  CHECK(models.chat(from("planner", "1")));
  CHECK(models.chat(from("planner", "2")));
  const ChatResult third = models.chat(from("planner", "3"));
  CHECK(third.error.failure == ChatFailure::budget);
  CHECK(server.requests().size() == 2);
  // Without prices nobody can tell.
  CHECK(models.chat(from("coder")).error.text.find("prices") != std::string::npos);
}

TEST_CASE(
    "ModelSet: a run replays without key and server, byte for byte, and no secret is in the recording") {
  const TemporaryFolder folder;
  ModelSetOptions options = quick_set();
  options.recording = folder.path().string();
  std::vector<std::string> first;
  std::string url;
  {
    LoopbackServer server(answer);
    url = server.url();
    const ModelSet models(file_for(url), options);
    for (const char* role : {"planner", "coder"})
      for (std::uint64_t k = 0; k < 3; ++k) {
        ChatRequest request = from(role);
        request.repetition = k;
        first.push_back(models.chat(request).reply->text);
      }
    CHECK(server.requests().size() == 6);
  }
  const std::string kept = all_set_text(folder.path());
  CHECK(kept.find("test-secret") == std::string::npos);
  options.mode = RecordMode::replay;
  const ModelSet again(file_for(url), options);
  ::unsetenv("KERNELSEARCH_TEST_LLM");
  std::vector<std::string> second;
  for (const char* role : {"planner", "coder"})
    for (std::uint64_t k = 0; k < 3; ++k) {
      ChatRequest request = from(role);
      request.repetition = k;
      const ChatResult result = again.chat(request);
      REQUIRE(result);
      CHECK(result.reply->replayed);
      second.push_back(result.reply->text);
    }
  CHECK(first == second);
  CHECK(again.chat(from("planner", "new")).error.failure == ChatFailure::not_recorded);
  CHECK(all_set_text(folder.path()) == kept);
  const Spending total = again.ledger().total();
  CHECK(total.replayed == 6);
  CHECK(total.money == approx(total.replayed_money));
}

TEST_CASE("ModelSet: a killed run goes on without paying for any reply twice") {
  const TemporaryFolder folder;
  LoopbackServer server([](const LoopbackServer::Request& asked, LoopbackServer::Peer& peer) {
    if (asked.index == 3) return peer.pause(20);  // the call during which the run is killed
    answer(asked, peer);
  });
  ModelSetOptions options = quick_set();
  options.recording = folder.path().string();
  const ModelFile file = file_for(server.url());
  const auto run = [&] {
    const ModelSet models(file, options);
    int replies = 0;
    for (std::uint64_t k = 0; k < 6; ++k) {
      ChatRequest request = from("planner");
      request.repetition = k;
      replies += models.chat(request) ? 1 : 0;
    }
    return std::pair(replies, models.ledger().total());
  };
  const pid_t child = ::fork();
  if (child == 0) {
    run();
    ::_exit(0);
  }
  REQUIRE(child > 0);
  while (server.requests().size() < 4) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(ExchangeFolder(folder.path().string()).size() == 3);
  const auto [replies, total] = run();
  CHECK(replies == 6);
  CHECK(total.replayed == 3);
  CHECK(server.requests().size() == 4 + 3);
}

TEST_CASE("ModelSet: replies that the ledger holds already are given for nothing, beyond its limits too") {
  const TemporaryFolder folder;
  LoopbackServer server(answer);
  const ModelFile file = file_for(server.url());
  ModelSetOptions options = quick_set();
  options.recording = folder.path().string();
  options.book_replays = false;
  const double one = 100e-6 * 10 + 10e-6 * 100;
  const auto limited = [&](double money) {
    options.ledger = std::make_shared<Ledger>(LedgerLimits{.money = money});
    return ModelSet(file, options);
  };
  const ModelSet first = limited(10);
  CHECK(first.chat(from("planner", "1")));
  CHECK(first.chat(from("planner", "1")).reply->replayed);  // not paid for, and not booked
  CHECK(first.ledger().total().calls == 1);
  CHECK(first.ledger().total().money == approx(one));
  const ModelSet second = limited(one * 1.5);
  ExchangeFolder(folder.path().string())
      .each([&](const std::string& role, const std::string& model, const ChatResult& result) {
        second.ledger().book(role, model, result, 0.0, Prices{10, 100});
      });
  CHECK(second.chat(from("planner", "1")));
  CHECK(second.chat(from("planner", "2")).error.failure == ChatFailure::budget);
  CHECK(second.ledger().total().calls == 1);
  CHECK(second.ledger().total().money == approx(one));
  CHECK(server.requests().size() == 1);
}
