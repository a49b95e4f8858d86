// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the client of language models costs beside the server: docs/benchmarks/llm.md.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "kernelsearch/llm/http_chat_model.hpp"
#include "kernelsearch/llm/model_set.hpp"
#include "kernelsearch/llm/sse_parser.hpp"
#include "llm/provider_reply.hpp"
#include "llm/provider_request.hpp"
#include "support/loopback_server.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using Peer = LoopbackServer::Peer;
using Asked = LoopbackServer::Request;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work) {
  const auto began = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - began).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double median_of(int rounds, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) times.push_back(seconds_of(work));
  return median(times);
}

Endpoint endpoint_of(const std::string& url, bool stream) {
  Endpoint endpoint;
  endpoint.name = "bench";
  endpoint.base_url = url;
  endpoint.model = "m";
  endpoint.stream = stream;
  endpoint.prices = Prices{1, 2};
  endpoint.limits.concurrency = 64;
  return endpoint;
}

HttpOptions options() {
  HttpOptions result;
  result.proxies = ProxySettings{};
  result.retry.attempts = 1;
  return result;
}

std::string event(const std::string& text) {
  return R"({"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1795291033,"model":"m",)"
         R"("choices":[{"index":0,"delta":{"content":")" +
         text + R"("},"finish_reason":null}]})";
}

/// The exchange of bytes alone: what a call cannot do without. One answer is one `send`.
class BareClient {
 public:
  BareClient(std::uint16_t port, const std::string& request, std::size_t answer)
      : request_(request), answer_(answer), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0)
      throw std::runtime_error("no server");
  }
  ~BareClient() { ::close(socket_); }
  BareClient(const BareClient&) = delete;
  BareClient& operator=(const BareClient&) = delete;

  void exchange() {
    for (std::size_t sent = 0; sent < request_.size();)
      sent += static_cast<std::size_t>(std::max<ssize_t>(
          0, ::send(socket_, request_.data() + sent, request_.size() - sent, MSG_NOSIGNAL)));
    char bytes[65536];
    for (std::size_t got = 0; got < answer_;) {
      const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
      if (count <= 0) throw std::runtime_error("the server went away");
      got += static_cast<std::size_t>(count);
    }
  }

 private:
  std::string request_;
  std::size_t answer_;
  int socket_;
};

void overhead() {
  const std::string text(4096, 'k');
  const std::string body =
      R"({"model":"m","choices":[{"message":{"content":")" + text +
      R"("},"finish_reason":"stop"}],"usage":{"prompt_tokens":9000,"completion_tokens":1000}})";
  const std::string whole =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body;
  std::string events;
  for (std::size_t at = 0; at < text.size(); at += 8) events += "data: " + event(text.substr(at, 8)) + "\n\n";
  events += "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
  const std::string streamed = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: " +
                               std::to_string(events.size()) + "\r\n\r\n" + events;

  ChatRequest request;
  request.role = "coder";
  request.messages = {{Speaker::system, std::string(10000, 's'), true},
                      {Speaker::user, std::string(26000, 'u'), false}};
  fmt::print("one call: a question of 36 kB, a reply of 4 kB, kept connection, median of 500\n");
  for (const bool stream : {false, true}) {
    const std::string& answer = stream ? streamed : whole;
    LoopbackServer server([&](const Asked&, Peer& peer) { peer.send(answer); });
    const Endpoint endpoint = endpoint_of(server.url(), stream);
    std::string head = "POST /chat/completions HTTP/1.1\r\nHost: x\r\n";
    const std::string sent = detail::request_body(endpoint, request);
    BareClient bare(server.port(),
                    head + "Content-Length: " + std::to_string(sent.size()) + "\r\n\r\n" + sent,
                    answer.size());
    HttpChatModel model(endpoint, options());
    const TemporaryFolder folder;
    ModelFile file;
    file.models = {endpoint};
    ModelSetOptions recorded;
    recorded.http = options();
    recorded.recording = folder.path().string();
    recorded.mode = RecordMode::record;
    const ModelSet models(file, recorded);
    ChatResult last;
    bare.exchange();
    (void)model.chat(request);
    const double alone = median_of(500, [&] { bare.exchange(); });
    const double client = median_of(500, [&] { last = model.chat(request); });
    if (!last || last.reply->text != text) throw std::runtime_error("a wrong reply: " + last.error.text);
    const double all = median_of(500, [&] { last = models.chat(request); });
    const double replayed = [&] {
      recorded.mode = RecordMode::replay;
      const ModelSet again(file, recorded);
      return median_of(500, [&] { last = again.chat(request); });
    }();
    fmt::print(
        "  {:<9} bytes alone {:.3f} ms, client {:.3f} ms (adds {:.3f}), with ledger and recording {:.3f} ms "
        "(adds {:.3f}), replay {:.3f} ms\n",
        stream ? "streamed" : "whole", alone * 1e3, client * 1e3, (client - alone) * 1e3, all * 1e3,
        (all - alone) * 1e3, replayed * 1e3);
  }
}

void parsing() {
  fmt::print("a stream of 10 MB in pieces of 16 kB, median of 15\n");
  for (const std::size_t size : {5u, 40u, 4000u}) {
    std::string stream;
    while (stream.size() < (10u << 20)) stream += "data: " + event(std::string(size, 'k')) + "\n\n";
    std::size_t count = 0, length = 0;
    const auto pieces = [&](const auto& on_event) {
      SseParser parser;
      for (std::size_t at = 0; at < stream.size(); at += 16384)
        parser.feed(std::string_view(stream).substr(at, 16384), on_event);
    };
    const double events = median_of(15, [&] {
      pieces([&](std::string_view, std::string_view data) {
        ++count;
        length += data.size();
        return true;
      });
    });
    const double replies = median_of(15, [&] {
      detail::ReplyStream reply(Provider::openai);
      pieces([&](std::string_view type, std::string_view data) { return reply.event(type, data); });
      length += reply.reply().text.size();
    });
    const double bytes = static_cast<double>(stream.size());
    fmt::print("  {:>4} characters an event: events {:.0f} MB/s, with their JSON {:.0f} MB/s\n", size,
               bytes / events * 1e-6, bytes / replies * 1e-6);
  }
}

void many() {
  constexpr double thinking = 0.1;
  constexpr int rounds = 5;
  std::string answer;
  LoopbackServer server([&](const Asked&, Peer& peer) {
    std::this_thread::sleep_for(std::chrono::duration<double>(thinking));
    peer.begin_stream();
    peer.event(event("done"));
    peer.event(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})");
    peer.event("[DONE]");
    peer.end_stream();
  });
  HttpChatModel model(endpoint_of(server.url(), true), options());
  std::atomic<int> replies{0};
  const double took = seconds_of([&] {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 64; ++i)
      threads.emplace_back([&] {
        for (int k = 0; k < rounds; ++k) {
          ChatRequest request;
          request.messages = {{Speaker::user, std::string(4000, 'u'), false}};
          replies += model.chat(request) ? 1 : 0;
        }
      });
  });
  fmt::print(
      "64 callers, {} calls each, a server that thinks {:.0f} ms: {} replies in {:.3f} s, {:.2f} times the "
      "thinking; {} connections\n",
      rounds, thinking * 1e3, replies.load(), took, took / (thinking * rounds), model.connections());
}

}  // namespace

int main() {
  overhead();
  parsing();
  many();
}
