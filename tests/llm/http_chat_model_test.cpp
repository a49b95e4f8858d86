// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/http_chat_model.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <thread>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "support/loopback_server.hpp"
#include "support/scripted_chat.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_certificate.hpp"

using namespace kernelsearch;
using Peer = LoopbackServer::Peer;
using Asked = LoopbackServer::Request;
using nlohmann::json;

// Replies written for these tests; no model said any of it.
namespace {

constexpr const char* secret = "test-secret-0123456789";

Endpoint endpoint_of(const std::string& url, bool stream = false, Provider provider = Provider::openai) {
  ::setenv("KERNELSEARCH_TEST_LLM", secret, 1);
  Endpoint endpoint;
  endpoint.name = "loop";
  endpoint.provider = provider;
  endpoint.base_url = url;
  endpoint.model = "m";
  endpoint.key_env = "KERNELSEARCH_TEST_LLM";
  endpoint.stream = stream;
  return endpoint;
}

/// No proxy of the machine's, and waits that a test can afford.
HttpOptions quick() {
  HttpOptions options;
  options.proxies = ProxySettings{};
  options.retry.first_seconds = 0.001;
  options.seed = 1;
  return options;
}

std::string whole(const std::string& text, const char* finish = "stop") {
  return json({{"model", "m-real"},
               {"choices", {{{"message", {{"content", text}}}, {"finish_reason", finish}}}},
               {"usage", {{"prompt_tokens", 7}, {"completion_tokens", 3}}}})
      .dump();
}

std::string delta(const std::string& text) {
  return json({{"choices", {{{"delta", {{"content", text}}}, {"finish_reason", nullptr}}}}}).dump();
}

void stream(Peer& peer, const std::string& text) {
  peer.begin_stream();
  peer.event(delta(text.substr(0, text.size() / 2)));
  peer.event(delta(text.substr(text.size() / 2)));
  peer.event(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})");
  peer.event(R"({"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}})");
  peer.event("[DONE]");
  peer.end_stream();
}

ChatResult ask(HttpChatModel& model, const std::string& text = "q") {
  return model.chat(ScriptedChat::question(text));
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// What the model makes of a server's one way to behave.
ChatResult met(const LoopbackServer::Handler& behaviour, bool streamed = false, std::uint32_t attempts = 1) {
  LoopbackServer server(behaviour);
  Endpoint endpoint = endpoint_of(server.url(), streamed);
  endpoint.timeouts = {1.0, 0.3, 0.3, 5.0};
  HttpOptions options = quick();
  options.retry.attempts = attempts;
  HttpChatModel model(endpoint, options);
  const ChatResult result = ask(model);
  if (!result) {
    CHECK_FALSE(has(result.error.text, secret));
    CHECK(result.error.attempts == server.requests().size());
  }
  return result;
}

}  // namespace

TEST_CASE("HttpChatModel: asks and reads, streamed or not, with the key in its header") {
  for (const bool streamed : {false, true}) {
    LoopbackServer server([&](const Asked&, Peer& peer) {
      streamed ? stream(peer, "hello") : peer.answer(200, whole("hello"));
    });
    HttpChatModel model(endpoint_of(server.url() + "/v1", streamed), quick());
    ChatRequest request = ScriptedChat::question("what?");
    request.model = "m-7";
    const ChatResult result = model.chat(request);
    REQUIRE_MESSAGE(result, result.error.text);
    CHECK(result.reply->text == "hello");
    CHECK(result.reply->usage == TokenUsage{7, 3, 0, 0, 0});
    CHECK(result.reply->finish == FinishReason::stop);
    CHECK(result.reply->attempts == 1);
    CHECK_FALSE(result.reply->replayed);
    const Asked asked = server.requests().at(0);
    CHECK(asked.method == "POST");
    CHECK(asked.target == "/v1/chat/completions");
    CHECK(asked.headers.at("authorization") == std::string("Bearer ") + secret);
    CHECK(asked.headers.at("host") == "127.0.0.1:" + std::to_string(server.port()));
    CHECK(json::parse(asked.body).at("messages")[0].at("content") == "what?");
    CHECK(json::parse(asked.body).at("model") == "m-7");
  }
}

TEST_CASE("HttpChatModel: Anthropic's messages") {
  LoopbackServer server([&](const Asked&, Peer& peer) {
    peer.begin_stream();
    peer.chunk(
        "event: message_start\ndata: "
        "{\"type\":\"message_start\",\"message\":{\"model\":\"c\",\"usage\":{\"input_tokens\":4}}}\n\n");
    peer.chunk("event: content_block_delta\nda");
    peer.chunk(
        "ta: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n");
    peer.event(R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}})");
    peer.event(R"({"type":"message_stop"})");
    peer.end_stream();
  });
  HttpChatModel model(endpoint_of(server.url(), true, Provider::anthropic), quick());
  const ChatResult result = ask(model);
  REQUIRE_MESSAGE(result, result.error.text);
  CHECK(result.reply->text == "hi");
  CHECK(result.reply->usage == TokenUsage{4, 2, 0, 0, 0});
  CHECK(server.requests()[0].headers.at("x-api-key") == secret);
  CHECK(server.requests()[0].target == "/v1/messages");
}

TEST_CASE("HttpChatModel: a connection is used again, and replaced when the server has closed it") {
  std::atomic<bool> close_next{false};
  LoopbackServer server([&](const Asked& asked, Peer& peer) {
    const bool closing = close_next;  // before the test hears of the answer and goes on
    asked.index % 2 ? stream(peer, "streamed") : peer.answer(200, whole("x"));
    if (closing) peer.close();
  });
  HttpChatModel model(endpoint_of(server.url(), true), quick());
  for (int i = 0; i < 4; ++i) CHECK(ask(model));
  CHECK(model.connections() == 1);
  close_next = true;
  CHECK(ask(model));
  close_next = false;
  for (int i = 0; i < 3; ++i) CHECK(ask(model));
  CHECK(model.connections() == 2);
  CHECK(server.requests().size() == 8);  // none was sent twice
}

TEST_CASE("HttpChatModel: Connection: close, no length, and interim answers") {
  LoopbackServer server([&](const Asked& asked, Peer& peer) {
    if (asked.index == 0) peer.answer(200, whole("closed"), "Connection: close\r\n");
    if (asked.index == 1) {
      peer.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.0 200 OK\r\n\r\n" + whole("no length"));
      peer.close();
    }
    if (asked.index == 2) peer.send("HTTP/1.1 100 Continue\r\n\r\n"), peer.answer(200, whole("continued"));
  });
  HttpChatModel model(endpoint_of(server.url()), quick());
  CHECK(ask(model).reply->text == "closed");
  CHECK(ask(model).reply->text == "no length");
  CHECK(ask(model).reply->text == "continued");
}

TEST_CASE("HttpChatModel: bytes may come one by one") {
  LoopbackServer server([&](const Asked&, Peer& peer) {
    const std::string body =
        "data: " + delta("drip") +
        "\r\n\r\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\r\n\r\n";
    std::string all = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: " +
                      std::to_string(body.size()) + "\r\n\r\n" + body;
    for (const char c : all) peer.send(std::string_view(&c, 1));
  });
  HttpChatModel model(endpoint_of(server.url(), true), quick());
  CHECK(ask(model).reply->text == "drip");
}

TEST_CASE("HttpChatModel: 429 and 5xx are tried again, with or without retry-after") {
  for (const std::string header : {"", "Retry-After: 0\r\n", "retry-after-ms: 5\r\n",
                                   "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n"}) {
    const ChatResult result = met(
        [&](const Asked& asked, Peer& peer) {
          if (asked.index == 0) return peer.answer(429, R"({"error":{"message":"slow"}})", header);
          if (asked.index == 1) return peer.answer(529, R"({"error":{"type":"overloaded_error"}})");
          if (asked.index == 2) return peer.answer(503, "busy");
          peer.answer(200, whole("at last"));
        },
        false, 5);
    REQUIRE(result);
    CHECK(result.reply->attempts == 4);
  }
}

TEST_CASE("HttpChatModel: what is tried again is told before it is") {
  LoopbackServer server([](const Asked& asked, Peer& peer) {
    if (asked.index == 0) return peer.answer(503, R"({"error":{"message":"busy test-secret-0123456789"}})");
    peer.answer(200, whole("at last"));
  });
  HttpOptions options = quick();
  std::vector<std::string> told;
  options.on_retry = [&told](const std::string& text) { told.push_back(text); };
  HttpChatModel model(endpoint_of(server.url()), options);
  CHECK(ask(model).reply->text == "at last");
  REQUIRE(told.size() == 1);
  CHECK(has(told[0], "the model `loop` gave no reply (server, status 503)"));
  CHECK(has(told[0], "attempt 2 of 5 in "));
  CHECK(has(told[0], "busy"));
  CHECK_FALSE(has(told[0], secret));
}

TEST_CASE("HttpChatModel: what does not pass is not tried again, and says why") {
  const auto refused = [](int status, const char* body, const std::string& headers = "") {
    const ChatResult result =
        met([&](const Asked&, Peer& peer) { peer.answer(status, body, headers); }, false, 5);
    CHECK_FALSE(result);
    CHECK(result.error.attempts == 1);
    return result.error;
  };
  CHECK(refused(429, R"({"error":{"code":"insufficient_quota","message":"You exceeded"}})").failure ==
        ChatFailure::quota);
  CHECK(refused(401, R"({"error":{"message":"Incorrect key test-secret-0123456789"}})").failure ==
        ChatFailure::authentication);
  CHECK(refused(400, R"({"error":{"message":"no such field"}})").failure == ChatFailure::configuration);
  CHECK(has(refused(404, R"({"error":{"message":"no model m"}})").text, "no model m"));
  CHECK(refused(413, "").failure == ChatFailure::configuration);
  CHECK(refused(307, "", "Location: http://elsewhere.test/\r\n").failure == ChatFailure::configuration);
  CHECK(refused(429, R"({"error":{"message":"slow"}})", "Retry-After: 100000\r\n").failure ==
        ChatFailure::rate_limited);
}

TEST_CASE("HttpChatModel: gives up after the last attempt with what the last one said") {
  const ChatResult result =
      met([](const Asked&, Peer& peer) { peer.answer(500, R"({"error":{"message":"kaput"}})"); }, false, 3);
  CHECK(result.error.failure == ChatFailure::server);
  CHECK(result.error.attempts == 3);
  CHECK(result.error.http_status == 500);
  CHECK(has(result.error.text, "kaput"));
  CHECK(has(result.error.text, "3 attempts"));
}

TEST_CASE("HttpChatModel: an answer that does not begin, or does not go on, is timed out") {
  CHECK(has(met([](const Asked&, Peer& peer) { peer.pause(5); }).error.text, "`first_byte`"));
  const ChatResult idle = met(
      [](const Asked&, Peer& peer) {
        peer.begin_stream();
        peer.event(delta("ha"));
        peer.pause(5);
      },
      true);
  CHECK(idle.error.failure == ChatFailure::timed_out);
  CHECK(has(idle.error.text, "`idle`"));
  CHECK(met(
      [](const Asked& asked, Peer& peer) { asked.index ? peer.answer(200, whole("late")) : peer.pause(0.6); },
      false, 2));
}

TEST_CASE("HttpChatModel: a stream that never ends is ended by the limit of all") {
  LoopbackServer server([](const Asked&, Peer& peer) {
    peer.begin_stream();
    while (peer.open()) {
      peer.chunk(": ping\n\n");
      peer.pause(0.05);
    }
  });
  Endpoint endpoint = endpoint_of(server.url(), true);
  endpoint.timeouts.total = 0.5;
  HttpChatModel model(endpoint, quick());
  const ChatResult result = ask(model);
  CHECK(result.error.failure == ChatFailure::timed_out);
  CHECK(has(result.error.text, "`total`"));
}

TEST_CASE("HttpChatModel: content that is complete is not held up by a stream that stays open") {
  const ChatResult result = met(
      [](const Asked&, Peer& peer) {
        peer.begin_stream();
        peer.event(delta("done"));
        peer.event(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})");
        peer.event("[DONE]");
        peer.pause(5);
      },
      true);
  REQUIRE(result);
  CHECK(result.reply->text == "done");
}

TEST_CASE("HttpChatModel: cut replies") {
  const auto cut_stream = [](const Asked&, Peer& peer) {
    peer.begin_stream();
    peer.event(delta("half a"));
    peer.close();
  };
  const ChatResult dropped = met(cut_stream, true, 2);
  CHECK(dropped.error.failure == ChatFailure::network);
  CHECK(dropped.error.attempts == 2);
  CHECK(has(dropped.error.text, "6 characters"));
  const ChatResult ended = met(
      [](const Asked&, Peer& peer) {
        peer.begin_stream();
        peer.event(delta("half a"));
        peer.end_stream();  // a proper end of the answer, not of the reply
      },
      true);
  CHECK(ended.error.failure == ChatFailure::network);
  CHECK(met([](const Asked&, Peer& peer) {
          peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"choices\"");
          peer.close();
        }).error.failure == ChatFailure::network);
  CHECK(met([](const Asked&, Peer& peer) { peer.close(); }).error.failure == ChatFailure::network);
  CHECK(met([](const Asked&, Peer& peer) { peer.reset(); }).error.failure == ChatFailure::network);
  CHECK(met([](const Asked&, Peer& peer) {
          peer.send("HTTP/1.1 200 OK\r\nContent-Le");
          peer.close();
        }).error.failure == ChatFailure::network);
}

TEST_CASE("HttpChatModel: what is no HTTP, no JSON, no reply") {
  for (const char* bytes :
       {"SMTP ready\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: "
        "chunked\r\n\r\nzz\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n<p>",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 12\r\n\r\ndata: {]}\n\n\n"}) {
    CAPTURE(bytes);
    const ChatResult result = met([&](const Asked&, Peer& peer) { peer.send(bytes); }, true, 5);
    CHECK(result.error.failure == ChatFailure::malformed);
    CHECK(result.error.attempts == 2);  // paid for, and hardly better the third time
  }
  const ChatResult flood = met([](const Asked&, Peer& peer) {
    peer.send("HTTP/1.1 200 OK\r\nX: " + std::string(200000, 'x') + "\r\n\r\n");
  });
  CHECK(flood.error.failure == ChatFailure::malformed);
}

TEST_CASE("HttpChatModel: an error inside a stream of 200 is an error, and may pass") {
  const auto behaviour = [](const Asked& asked, Peer& peer) {
    if (asked.index > 0) return stream(peer, "fine");
    peer.begin_stream();
    peer.event(delta("par"));
    peer.event(R"({"error":{"message":"engine lost","type":"server_error"}})");
    peer.end_stream();
  };
  const ChatResult once = met(behaviour, true, 1);
  CHECK(once.error.failure == ChatFailure::server);
  CHECK(has(once.error.text, "engine lost"));
  const ChatResult twice = met(behaviour, true, 2);
  REQUIRE(twice);
  CHECK(twice.reply->text == "fine");
}

TEST_CASE("HttpChatModel: refusals, filters and empty replies") {
  const auto said = [](const char* body) {
    return met([&](const Asked&, Peer& peer) { peer.answer(200, body); }, false, 5);
  };
  const ChatResult refusal =
      said(R"({"choices":[{"message":{"content":null,"refusal":"I must not"},"finish_reason":"stop"}]})");
  REQUIRE(refusal);
  CHECK(refusal.reply->finish == FinishReason::refusal);
  CHECK(refusal.reply->text == "I must not");
  CHECK(said(R"({"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]})").reply->finish ==
        FinishReason::filter);
  const ChatResult eaten = said(R"({"choices":[{"message":{"content":""},"finish_reason":"length"}]})");
  REQUIRE(eaten);
  CHECK(eaten.reply->finish == FinishReason::length);
  const ChatResult empty =
      said(R"({"choices":[{"message":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":5}})");
  CHECK(empty.error.failure == ChatFailure::malformed);
  CHECK(empty.error.attempts == 2);
  CHECK(empty.error.usage.input == 10);  // both were paid for
}

TEST_CASE("HttpChatModel: ten megabytes, streamed and whole") {
  const std::string text(10 << 20, 'k');
  LoopbackServer server([&](const Asked& asked, Peer& peer) {
    if (asked.index == 0) return peer.answer(200, whole(text));
    peer.begin_stream();
    for (std::size_t at = 0; at < text.size(); at += 4096) peer.event(delta(text.substr(at, 4096)));
    peer.event(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})");
    peer.event("[DONE]");
    peer.end_stream();
  });
  Endpoint endpoint = endpoint_of(server.url(), true);
  HttpChatModel model(endpoint, quick());
  CHECK(ask(model).reply->text == text);
  CHECK(ask(model).reply->text == text);
  HttpOptions options = quick();
  options.largest_reply = 1 << 20;
  options.retry.attempts = 1;
  HttpChatModel narrow(endpoint, options);
  CHECK(ask(narrow).error.failure == ChatFailure::malformed);
}

TEST_CASE("HttpChatModel: a large question arrives whole") {
  LoopbackServer server(
      [](const Asked& asked, Peer& peer) { peer.answer(200, whole(std::to_string(asked.body.size()))); });
  HttpChatModel model(endpoint_of(server.url()), quick());
  CHECK(std::stoul(ask(model, std::string(5 << 20, 'q')).reply->text) > (5u << 20));
}

TEST_CASE("HttpChatModel: stopped while it waits for the answer, for its turn, and between attempts") {
  std::atomic<int> reached{0};
  LoopbackServer server([&](const Asked&, Peer& peer) {
    ++reached;
    peer.pause(20);
  });
  Endpoint endpoint = endpoint_of(server.url());
  endpoint.limits.concurrency = 1;
  HttpChatModel model(endpoint, quick());
  std::stop_source stop;
  std::vector<ChatResult> results(2);
  std::vector<std::jthread> threads;
  for (ChatResult& result : results)
    threads.emplace_back([&] { result = model.chat(ScriptedChat::question("q"), stop.get_token()); });
  while (reached == 0) std::this_thread::yield();
  stop.request_stop();
  threads.clear();
  for (const ChatResult& result : results) CHECK(result.error.failure == ChatFailure::cancelled);
  CHECK(reached == 1);
  CHECK(model.chat(ScriptedChat::question("q"), stop.get_token()).error.failure == ChatFailure::cancelled);

  std::atomic<int> busy{0};
  LoopbackServer slow([&](const Asked&, Peer& peer) {
    ++busy;
    peer.answer(503, "busy", "Retry-After: 100\r\n");
  });
  HttpChatModel waiting(endpoint_of(slow.url()), quick());
  std::stop_source second;
  ChatResult result;
  std::jthread caller([&] { result = waiting.chat(ScriptedChat::question("q"), second.get_token()); });
  while (busy == 0) std::this_thread::yield();
  second.request_stop();
  caller.join();
  CHECK(result.error.failure == ChatFailure::cancelled);
}

TEST_CASE("HttpChatModel: 64 calls at once, each with its own reply, and no more than allowed") {
  LoopbackServer server([](const Asked& asked, Peer& peer) {
    peer.pause(0.02);
    stream(peer, "re: " + json::parse(asked.body).at("messages")[0].at("content").get<std::string>());
  });
  for (const std::uint32_t limit : {64u, 5u}) {
    Endpoint endpoint = endpoint_of(server.url(), true);
    endpoint.limits.concurrency = limit;
    HttpChatModel model(endpoint, quick());
    std::atomic<int> right{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 64; ++i)
      threads.emplace_back([&, i] {
        for (int k = 0; k < 2; ++k) {
          const std::string text = std::to_string(i) + "/" + std::to_string(k);
          const ChatResult result = ask(model, text);
          right += result && result.reply->text == "re: " + text;
        }
      });
    threads.clear();
    CHECK(right == 128);
    CHECK(model.connections() <= limit);
    if (limit == 64) CHECK(server.most_at_once() > 5);
  }
}

TEST_CASE("HttpChatModel: TLS only with a certificate that is trusted and for the host") {
  const TemporaryFolder folder;
  const TestCertificate good("localhost"), other("other.test"), ended("localhost", -1);
  const std::string trusted = (folder / "trusted.pem").string();
  const auto result_with = [&](const TestCertificate& shown, const TestCertificate& believed,
                               bool by_environment = false) {
    believed.write(trusted);
    LoopbackServer server([](const Asked&, Peer& peer) { peer.answer(200, whole("private")); },
                          shown.server());
    HttpOptions options = quick();
    if (by_environment)
      ::setenv("SSL_CERT_FILE", trusted.c_str(), 1);
    else
      options.ca_file = trusted;
    HttpChatModel model(endpoint_of(server.url()), options);
    ChatResult first = ask(model);
    if (first) {
      CHECK(ask(model));
      CHECK(model.connections() == 1);
    }
    ::unsetenv("SSL_CERT_FILE");
    CHECK(server.requests().size() == (first ? 2 : 0));  // no key was sent to a stranger
    return first;
  };
  const ChatResult fine = result_with(good, good);
  REQUIRE_MESSAGE(fine, fine.error.text);
  CHECK(fine.reply->text == "private");
  CHECK(result_with(good, good, true));
  const ChatResult name = result_with(other, other);
  CHECK(name.error.failure == ChatFailure::configuration);
  CHECK(name.error.attempts == 1);
  CHECK(has(name.error.text, "certificate"));
  const ChatResult stranger = result_with(good, other);
  CAPTURE(stranger.error.text);
  CHECK(stranger.error.failure == ChatFailure::configuration);
  CHECK(has(stranger.error.text, "self"));
  CHECK(has(result_with(ended, ended).error.text, "expired"));
}

TEST_CASE("HttpChatModel: a plain server is no TLS server") {
  LoopbackServer server([](const Asked&, Peer& peer) { peer.answer(200, whole("x")); });
  Endpoint endpoint = endpoint_of("https://127.0.0.1:" + std::to_string(server.port()));
  endpoint.timeouts.connect = 0.5;
  HttpOptions options = quick();
  options.retry.attempts = 1;
  HttpChatModel model(endpoint, options);
  const ChatResult result = ask(model);
  CHECK_FALSE(result);
  CHECK(has(result.error.text, "TLS"));
}

TEST_CASE("HttpChatModel: through a proxy, by a tunnel or by the whole URL") {
  const TemporaryFolder folder;
  const TestCertificate certificate("localhost");
  certificate.write((folder / "ca.pem").string());
  LoopbackServer secure([](const Asked&, Peer& peer) { stream(peer, "tunnelled"); }, certificate.server());
  std::atomic<int> status{200};
  LoopbackServer proxy([&](const Asked& asked, Peer& peer) {
    if (asked.method != "CONNECT") return peer.answer(200, whole("forwarded"));
    if (status != 200) return peer.answer(status, "no");
    peer.send("HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n");
    peer.tunnel_to(secure.port());
  });
  HttpOptions options = quick();
  options.ca_file = (folder / "ca.pem").string();
  options.retry.attempts = 1;
  const std::string address = "http://me:p%40ss@127.0.0.1:" + std::to_string(proxy.port());
  options.proxies = ProxySettings{address, address, ""};
  {
    HttpChatModel model(endpoint_of(secure.url(), true), options);
    const ChatResult result = ask(model);
    REQUIRE_MESSAGE(result, result.error.text);
    CHECK(result.reply->text == "tunnelled");
    CHECK(ask(model));
    CHECK(model.connections() == 1);
    const Asked connect = proxy.requests().at(0);
    CHECK(connect.target == "localhost:" + std::to_string(secure.port()));
    CHECK(connect.headers.at("proxy-authorization") == "Basic bWU6cEBzcw==");
    CHECK_FALSE(connect.headers.count("authorization"));
    CHECK_FALSE(secure.requests().at(0).headers.count("proxy-authorization"));
  }
  {
    HttpChatModel model(endpoint_of("http://models.test/v1"), options);
    CHECK(ask(model).reply->text == "forwarded");
    const Asked last = proxy.requests().back();
    CHECK(last.target == "http://models.test/v1/chat/completions");
    CHECK(last.headers.at("host") == "models.test");
  }
  status = 407;
  HttpChatModel refused(endpoint_of(secure.url(), true), options);
  const ChatResult result = ask(refused);
  CHECK(result.error.failure == ChatFailure::configuration);
  CHECK(has(result.error.text, "407"));
  CHECK_FALSE(has(result.error.text, "ss@"));
  options.proxies->exceptions = "localhost";
  HttpChatModel direct(endpoint_of(secure.url(), true), options);
  CHECK(ask(direct));
}

TEST_CASE("HttpChatModel: nobody there, no such host") {
  std::uint16_t port = 0;
  {
    port = LoopbackServer([](const Asked&, Peer&) {}).port();
  }
  HttpOptions options = quick();
  options.retry.attempts = 2;
  HttpChatModel model(endpoint_of("http://127.0.0.1:" + std::to_string(port)), options);
  const ChatResult refused = ask(model);
  CHECK(refused.error.failure == ChatFailure::network);
  CHECK(refused.error.attempts == 2);
  Endpoint nowhere = endpoint_of("http://no-such-host.invalid");
  nowhere.timeouts.connect = 5;
  HttpChatModel lost(nowhere, options);
  const ChatResult unknown = ask(lost);
  CHECK_FALSE(unknown);
  CHECK(has(unknown.error.text, "no-such-host.invalid"));
}

TEST_CASE("HttpChatModel: requests of a minute are spread, and the wait is part of the call") {
  LoopbackServer server([](const Asked&, Peer& peer) { peer.answer(200, whole("x")); });
  Endpoint endpoint = endpoint_of(server.url());
  endpoint.limits.requests_per_minute = 2;
  endpoint.timeouts.total = 0.3;
  HttpChatModel model(endpoint, quick());
  CHECK(ask(model));
  CHECK(ask(model));
  const ChatResult third = ask(model);
  CHECK(third.error.failure == ChatFailure::timed_out);
  CHECK(has(third.error.text, "requests_per_minute"));
  CHECK(server.requests().size() == 2);
}

TEST_CASE("HttpChatModel: keys come from the environment, and go nowhere else") {
  LoopbackServer server([](const Asked& asked, Peer& peer) {
    peer.answer(500, asked.headers.at("authorization") + asked.headers.at("x-gate"));
  });
  Endpoint endpoint = endpoint_of(server.url());
  endpoint.headers = {{"X-Gate", "env:KERNELSEARCH_TEST_GATE"}};
  HttpOptions options = quick();
  options.retry.attempts = 1;
  HttpChatModel model(endpoint, options);
  CHECK(has(ask(model).error.text, "KERNELSEARCH_TEST_GATE is not set"));
  ::setenv("KERNELSEARCH_TEST_GATE", "gate-secret", 1);
  const ChatResult echoed = ask(model);
  CHECK(echoed.error.failure == ChatFailure::server);
  CHECK_FALSE(has(echoed.error.text, secret));
  CHECK_FALSE(has(echoed.error.text, "gate-secret"));
  CHECK(has(echoed.error.text, "[redacted]"));
  ::setenv("KERNELSEARCH_TEST_LLM", "two lines\r\nX-Evil: 1", 1);
  const ChatResult split = ask(model);
  CHECK(split.error.failure == ChatFailure::configuration);
  CHECK_FALSE(has(split.error.text, "X-Evil"));
  ::unsetenv("KERNELSEARCH_TEST_LLM");
  CHECK(ask(model).error.failure == ChatFailure::configuration);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("HttpChatModel: what cannot be an endpoint is refused at once") {
  for (const char* url : {"", "ftp://x", "http://", "http://user:password@host", "http://host/?key=1"})
    CHECK_THROWS_AS(HttpChatModel(endpoint_of(url), quick()), ConfigError);
  Endpoint header = endpoint_of("http://127.0.0.1:9");
  header.headers = {{"X-A", "1\r\nX-B: 2"}};
  CHECK_THROWS_AS(HttpChatModel(header, quick()), ConfigError);
  HttpOptions options = quick();
  options.ca_file = "/nonexistent.pem";
  CHECK_THROWS_AS(HttpChatModel(endpoint_of("https://127.0.0.1:9"), options), ConfigError);
  options = quick();
  options.proxies = ProxySettings{"socks5://x:1", "socks5://x:1", ""};
  CHECK_THROWS_AS(HttpChatModel(endpoint_of("https://127.0.0.1:9"), options), ConfigError);
}
