// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llm/provider_reply.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;
using detail::ProviderReply;
using detail::read_reply;
using detail::ReplyStream;

// Written for these tests after the providers' documents; no model said any of it.
namespace {

const std::vector<std::string> openai_events = {
    R"({"id":"1","model":"gpt-x","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]})",
    R"({"model":"gpt-x","choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}],"usage":null})",
    R"({"model":"gpt-x","choices":[{"index":0,"delta":{"content":"lo \u00e9"},"finish_reason":null}]})",
    R"({"model":"gpt-x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})",
    R"({"model":"gpt-x","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":3}}})",
    "[DONE]"};

const std::vector<std::string> anthropic_events = {
    R"({"type":"message_start","message":{"model":"cl-x","content":[],"usage":{"input_tokens":10,"cache_read_input_tokens":30,"cache_creation_input_tokens":5,"output_tokens":1}}})",
    R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}})",
    R"({"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}})",
    R"({"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}})",
    R"({"type":"ping"})",
    R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hel"}})",
    R"({"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"lo"}})",
    R"({"type":"content_block_stop","index":1})",
    R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":20}})",
    R"({"type":"message_stop"})"};

ProviderReply streamed(Provider provider, const std::vector<std::string>& events) {
  ReplyStream stream(provider);
  for (const std::string& event : events)
    if (!stream.event("", event)) break;
  return std::move(stream.reply());
}

}  // namespace

TEST_CASE("read_reply: chat completions") {
  const ProviderReply reply = read_reply(
      Provider::openai, 200,
      R"({"model":"gpt-x","choices":[{"message":{"content":"hi","refusal":null},"finish_reason":"length"}],
          "usage":{"prompt_tokens":5,"completion_tokens":2}})");
  CHECK(reply.text == "hi");
  CHECK(reply.finish == FinishReason::length);
  CHECK(reply.usage == TokenUsage{5, 2, 0, 0, 0});
  CHECK(reply.model == "gpt-x");
  CHECK(
      read_reply(
          Provider::openai, 200,
          R"({"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"image"},{"text":"b"}]}}]})")
          .text == "ab");
  const ProviderReply refused =
      read_reply(Provider::openai, 200,
                 R"({"choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"stop"}]})");
  CHECK(refused.refusal == "no");
  CHECK(read_reply(Provider::openai, 200,
                   R"({"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]})")
            .finish == FinishReason::filter);
}

TEST_CASE("read_reply: messages") {
  const ProviderReply reply = read_reply(
      Provider::anthropic, 200,
      R"({"model":"cl-x","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"h"},{"type":"text","text":"i"}],
          "stop_reason":"max_tokens","usage":{"input_tokens":10,"cache_read_input_tokens":30,"cache_creation_input_tokens":5,"output_tokens":7}})");
  CHECK(reply.text == "hi");
  CHECK(reply.finish == FinishReason::length);
  CHECK(reply.usage == TokenUsage{45, 7, 30, 5, 0});
  CHECK(read_reply(Provider::anthropic, 200, R"({"content":[],"stop_reason":"refusal"})").finish ==
        FinishReason::refusal);
  CHECK(read_reply(Provider::anthropic, 200, R"({"content":[],"stop_reason":"tool_use"})").finish ==
        FinishReason::other);
}

TEST_CASE("read_reply: errors by status and code") {
  const auto failure = [](int status, const char* body) {
    const ProviderReply reply = read_reply(Provider::openai, status, body);
    REQUIRE(reply.error);
    return reply.error->failure;
  };
  CHECK(failure(429, R"({"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}})") ==
        ChatFailure::rate_limited);
  CHECK(failure(429,
                R"({"error":{"message":"pay","type":"insufficient_quota","code":"insufficient_quota"}})") ==
        ChatFailure::quota);
  CHECK(
      failure(
          400,
          R"({"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to"}})") ==
      ChatFailure::quota);
  CHECK(failure(400, R"({"error":{"message":"bad"}})") == ChatFailure::configuration);
  CHECK(failure(401, "nope") == ChatFailure::authentication);
  CHECK(failure(529, R"({"type":"error","error":{"type":"overloaded_error","message":"busy"}})") ==
        ChatFailure::server);
  CHECK(failure(502, "<html>bad gateway</html>") == ChatFailure::server);
  CHECK(failure(200, R"({"error":{"message":"late","code":429}})") == ChatFailure::rate_limited);
  CHECK(read_reply(Provider::openai, 502, "<html>bad gateway</html>").error->text.find("bad gateway") !=
        std::string::npos);
  CHECK(read_reply(Provider::openai, 500, std::string(100000, 'x')).error->text.size() < 600);
}

TEST_CASE("read_reply: what is no reply") {
  for (const char* body : {"", "{", "[]", "{}", R"({"choices":[]})", R"({"choices":{}})", "null", "\xFF"}) {
    CAPTURE(body);
    CHECK_FALSE(read_reply(Provider::openai, 200, body).malformed.empty());
    CHECK_FALSE(read_reply(Provider::anthropic, 200, body).malformed.empty());
  }
  CHECK_FALSE(read_reply(Provider::openai, 200, std::string(100000, '[')).malformed.empty());
}

TEST_CASE("ReplyStream: both interfaces") {
  ReplyStream stream(Provider::openai);
  for (const std::string& event : openai_events) stream.event("", event);
  CHECK(stream.over());
  CHECK(stream.reply().text == "Hello \xC3\xA9");
  CHECK(stream.reply().finish == FinishReason::stop);
  CHECK(stream.reply().usage == TokenUsage{12, 7, 8, 0, 3});
  CHECK(stream.reply().model == "gpt-x");
  ReplyStream messages(Provider::anthropic);
  for (const std::string& event : anthropic_events) messages.event("", event);
  CHECK(messages.over());
  CHECK(messages.reply().text == "Hello");
  CHECK(messages.reply().finish == FinishReason::stop);
  CHECK(messages.reply().usage == TokenUsage{45, 20, 30, 5, 0});
}

TEST_CASE("ReplyStream: errors in the middle, broken events, and no end") {
  std::vector<std::string> events(openai_events.begin(), openai_events.begin() + 2);
  events.push_back(R"({"error":{"message":"exploded","type":"server_error"}})");
  CHECK(streamed(Provider::openai, events).error->failure == ChatFailure::server);
  events.back() = R"({"error":{"message":"busy","code":"429"}})";
  CHECK(streamed(Provider::openai, events).error->failure == ChatFailure::rate_limited);
  std::vector<std::string> messages(anthropic_events.begin(), anthropic_events.begin() + 6);
  messages.push_back(R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})");
  CHECK(streamed(Provider::anthropic, messages).error->http_status == 529);
  CHECK(streamed(Provider::anthropic, messages).usage.input == 45);  // paid for all the same
  events.back() = R"({"choices":[{"delta":{"content":"x"})";
  CHECK_FALSE(streamed(Provider::openai, events).malformed.empty());
  events.pop_back();
  CHECK_FALSE(streamed(Provider::openai, events).finish);
  ReplyStream small(Provider::openai, 2);
  CHECK_FALSE(small.event("", openai_events[1]));
  CHECK_FALSE(small.reply().malformed.empty());
}

TEST_CASE("replies: broken bytes anywhere are read or refused, never more") {
  Rng rng(5);
  for (int round = 0; round < 4000; ++round)
    for (const auto* events : {&openai_events, &anthropic_events}) {
      std::vector<std::string> broken = *events;
      std::string& one = broken[rng.below(broken.size())];
      if (one.empty()) continue;
      for (std::uint64_t i = 1 + rng.below(4); i > 0; --i)
        one[rng.below(one.size())] = static_cast<char>(rng.below(256));
      const Provider provider = events == &openai_events ? Provider::openai : Provider::anthropic;
      (void)streamed(provider, broken);
      (void)read_reply(provider, 200, one);
    }
}
