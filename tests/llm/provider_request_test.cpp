// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llm/provider_request.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;
using nlohmann::json;

namespace {

Endpoint endpoint(Provider provider) {
  Endpoint result;
  result.provider = provider;
  result.model = "m-1";
  result.limits.max_tokens = 2000;
  return result;
}

ChatRequest question() {
  ChatRequest request;
  request.messages = {{Speaker::system, "rules", true},
                      {Speaker::user, "kernel", true},
                      {Speaker::assistant, "seen", false},
                      {Speaker::user, "now", false}};
  request.temperature = 1.5;
  request.max_tokens = 4096;
  request.stop = {"END"};
  return request;
}

}  // namespace

TEST_CASE("request_body: chat completions") {
  Endpoint where = endpoint(Provider::openai);
  const json body = json::parse(detail::request_body(where, question()));
  CHECK(body.at("model") == "m-1");
  REQUIRE(body.at("messages").size() == 4);
  CHECK(body["messages"][0] == json({{"role", "system"}, {"content", "rules"}}));
  CHECK(body["messages"][2] == json({{"role", "assistant"}, {"content", "seen"}}));
  CHECK(body.at("max_tokens") == 2000);  // the endpoint's limit
  CHECK(body.at("temperature") == 1.5);
  CHECK(body.at("stop") == json({"END"}));
  CHECK(body.at("stream") == true);
  CHECK(body.at("stream_options").at("include_usage") == true);
  CHECK_FALSE(body.contains("response_format"));

  where.stream = false;
  where.send_temperature = false;
  where.max_tokens_field = "max_completion_tokens";
  where.parameters = R"({"reasoning_effort": "low", "stop": null})";
  ChatRequest other = question();
  other.model = "m-2";
  other.json_schema = R"({"type": "object"})";
  const json changed = json::parse(detail::request_body(where, other));
  CHECK(changed.at("model") == "m-2");
  CHECK(changed.at("max_completion_tokens") == 2000);
  for (const char* absent : {"max_tokens", "temperature", "stream", "stream_options", "stop"})
    CHECK_FALSE(changed.contains(absent));
  CHECK(changed.at("reasoning_effort") == "low");
  CHECK(
      changed.at("response_format") ==
      json::parse(
          R"({"type":"json_schema","json_schema":{"name":"reply","schema":{"type":"object"},"strict":true}})"));
  where.structured = StructuredOutput::json_object;
  CHECK(json::parse(detail::request_body(where, other)).at("response_format") ==
        json({{"type", "json_object"}}));
  where.structured = StructuredOutput::none;
  CHECK_FALSE(json::parse(detail::request_body(where, other)).contains("response_format"));
}

TEST_CASE("request_body: messages, with the cache told where the stable part ends") {
  const Endpoint where = endpoint(Provider::anthropic);
  ChatRequest request = question();
  json body = json::parse(detail::request_body(where, request));
  CHECK(body.at("system").size() == 1);
  CHECK_FALSE(body["system"][0].contains("cache_control"));
  REQUIRE(body.at("messages").size() == 3);
  CHECK(body["messages"][0]["role"] == "user");
  CHECK(body["messages"][0]["content"][0] ==
        json::parse(R"({"type":"text","text":"kernel","cache_control":{"type":"ephemeral"}})"));
  CHECK_FALSE(body["messages"][2]["content"][0].contains("cache_control"));
  CHECK(body.at("temperature") == 1.0);  // more is refused
  CHECK(body.at("stop_sequences") == json({"END"}));
  CHECK(body.at("max_tokens") == 2000);
  CHECK_FALSE(body.contains("stream_options"));

  request.messages[1].stable = false;
  request.json_schema = R"({"type": "object"})";
  body = json::parse(detail::request_body(where, request));
  CHECK(body["system"][0].contains("cache_control"));
  CHECK_FALSE(body["messages"][0]["content"][0].contains("cache_control"));
  CHECK(body.at("output_config") ==
        json::parse(R"({"format":{"type":"json_schema","schema":{"type":"object"}}})"));
  request.messages.resize(1);
  CHECK_THROWS_AS((void)detail::request_body(where, request), ConfigError);
}

TEST_CASE("request_body: equal questions are equal bytes, and what is stable begins them alike") {
  for (const Provider provider : {Provider::openai, Provider::anthropic}) {
    const Endpoint where = endpoint(provider);
    ChatRequest other = question();
    other.messages[3].text = "later";
    const std::string a = detail::request_body(where, question()), b = detail::request_body(where, other);
    CHECK(a == detail::request_body(where, question()));
    CHECK(a.substr(0, a.find("now")) == b.substr(0, b.find("later")));
  }
}

TEST_CASE("request_body: bad schemas, parameters and bytes") {
  Endpoint where = endpoint(Provider::openai);
  ChatRequest request = question();
  request.messages[0].text = "bad \xFF byte";
  CHECK(detail::request_body(where, request).find("bad \xEF\xBF\xBD byte") != std::string::npos);
  request.json_schema = "{";
  CHECK_THROWS_AS((void)detail::request_body(where, request), ConfigError);
  request.json_schema.clear();
  where.parameters = "[]";
  CHECK_THROWS_AS((void)detail::request_body(where, request), ConfigError);
  request.messages.clear();
  CHECK_THROWS_AS((void)detail::request_body(endpoint(Provider::openai), request), ConfigError);
}

TEST_CASE("request_target and request_headers") {
  CHECK(detail::request_target(Provider::openai, "/v1") == "/v1/chat/completions");
  CHECK(detail::request_target(Provider::openai, "") == "/chat/completions");
  CHECK(detail::request_target(Provider::anthropic, "") == "/v1/messages");
  CHECK(detail::request_target(Provider::anthropic, "/proxy/v1") == "/proxy/v1/messages");
  const auto value_of = [](const auto& headers, const std::string& name) -> std::string {
    for (const auto& [key, text] : headers)
      if (key == name) return text;
    return "absent";
  };
  const auto openai = detail::request_headers(endpoint(Provider::openai), "k", {{"X-Own", "1"}});
  CHECK(value_of(openai, "Authorization") == "Bearer k");
  CHECK(value_of(openai, "X-Own") == "1");
  CHECK(value_of(openai, "x-api-key") == "absent");
  const auto anthropic = detail::request_headers(endpoint(Provider::anthropic), "k", {});
  CHECK(value_of(anthropic, "x-api-key") == "k");
  CHECK(value_of(anthropic, "anthropic-version") == "2023-06-01");
  CHECK(value_of(anthropic, "Authorization") == "absent");
  CHECK(value_of(detail::request_headers(endpoint(Provider::openai), "", {}), "Authorization") == "absent");
}
