// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "provider_request.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch::detail {
namespace {

// Keeps the order of the fields: equal questions are equal bytes, and what is stable comes first.
using json = nlohmann::ordered_json;

std::string speaker_name(Speaker speaker) {
  return speaker == Speaker::system ? "system" : speaker == Speaker::user ? "user" : "assistant";
}

json parsed(const std::string& text, const char* what) {
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded() || !value.is_object())
    raise<ConfigError>(std::string(what) + " is not a JSON object", text.substr(0, 200), "correct it");
  return value;
}

std::uint32_t most_tokens(const Endpoint& endpoint, const ChatRequest& request) {
  return std::max(1u, std::min(request.max_tokens, endpoint.limits.max_tokens));
}

const std::string& model_of(const Endpoint& endpoint, const ChatRequest& request) {
  return request.model.empty() ? endpoint.model : request.model;
}

/// Chat completions: the provider finds equal beginnings by itself, so the order of the messages is all there
/// is to say about its cache.
json openai_body(const Endpoint& endpoint, const ChatRequest& request) {
  json body = {{"model", model_of(endpoint, request)}};
  json messages = json::array();
  for (const Message& message : request.messages)
    messages.push_back({{"role", speaker_name(message.speaker)}, {"content", message.text}});
  body["messages"] = std::move(messages);
  body[endpoint.max_tokens_field] = most_tokens(endpoint, request);
  if (request.temperature && endpoint.send_temperature) body["temperature"] = *request.temperature;
  if (!request.stop.empty()) body["stop"] = request.stop;
  if (!request.json_schema.empty() && endpoint.structured != StructuredOutput::none) {
    if (endpoint.structured == StructuredOutput::json_object)
      body["response_format"] = {{"type", "json_object"}};
    else
      body["response_format"] = {
          {"type", "json_schema"},
          {"json_schema",
           {{"name", request.json_schema_name.empty() ? "reply" : request.json_schema_name},
            {"schema", parsed(request.json_schema, "the schema of a reply")},
            {"strict", true}}}};
  }
  if (endpoint.stream) {
    body["stream"] = true;
    body["stream_options"] = {{"include_usage", true}};
  }
  return body;
}

/// Messages: instructions stand apart and come first; the cache is told where the stable part ends.
json anthropic_body(const Endpoint& endpoint, const ChatRequest& request) {
  json system = json::array(), messages = json::array();
  std::size_t stable_system = 0, stable_messages = 0;  // how many, the last stable one included
  for (const Message& message : request.messages) {
    if (message.text.empty()) continue;  // refused by the provider
    json block = {{"type", "text"}, {"text", message.text}};
    if (message.speaker == Speaker::system) {
      system.push_back(std::move(block));
      if (message.stable) stable_system = system.size();
    } else {
      messages.push_back(
          {{"role", speaker_name(message.speaker)}, {"content", json::array({std::move(block)})}});
      if (message.stable) stable_messages = messages.size();
    }
  }
  if (messages.empty())
    raise<ConfigError>("a question has no message of a user",
                       std::to_string(request.messages.size()) + " messages",
                       "add one; instructions alone are not a question");
  const json cache = {{"type", "ephemeral"}};
  if (stable_messages != 0)
    messages[stable_messages - 1]["content"][0]["cache_control"] = cache;
  else if (stable_system != 0)
    system[stable_system - 1]["cache_control"] = cache;

  json body = {{"model", model_of(endpoint, request)}, {"max_tokens", most_tokens(endpoint, request)}};
  if (!system.empty()) body["system"] = std::move(system);
  body["messages"] = std::move(messages);
  if (request.temperature && endpoint.send_temperature)
    body["temperature"] = std::min(*request.temperature, 1.0);
  if (!request.stop.empty()) body["stop_sequences"] = request.stop;
  if (!request.json_schema.empty() && endpoint.structured == StructuredOutput::json_schema)
    body["output_config"] = {
        {"format",
         {{"type", "json_schema"}, {"schema", parsed(request.json_schema, "the schema of a reply")}}}};
  if (endpoint.stream) body["stream"] = true;
  return body;
}

}  // namespace

std::string request_body(const Endpoint& endpoint, const ChatRequest& request) {
  if (request.messages.empty())
    raise<ConfigError>("a question has no messages", "role `" + request.role + "`", "add one of the user");
  json body = endpoint.provider == Provider::openai ? openai_body(endpoint, request)
                                                    : anthropic_body(endpoint, request);
  if (!endpoint.parameters.empty()) body.merge_patch(parsed(endpoint.parameters, "`parameters` of a model"));
  // Compilers and kernels may print what is not UTF-8; a provider would refuse it.
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string request_target(Provider provider, const std::string& base_path) {
  if (provider == Provider::openai) return base_path + "/chat/completions";
  const bool versioned = base_path.size() >= 3 && base_path.compare(base_path.size() - 3, 3, "/v1") == 0;
  return base_path + (versioned ? "/messages" : "/v1/messages");
}

std::vector<std::pair<std::string, std::string>> request_headers(
    const Endpoint& endpoint, const std::string& key,
    const std::vector<std::pair<std::string, std::string>>& own) {
  std::vector<std::pair<std::string, std::string>> headers = {
      {"Content-Type", "application/json"},
      {"Accept", endpoint.stream ? "text/event-stream, application/json" : "application/json"},
      {"Accept-Encoding", "identity"},
      {"User-Agent", "kernelsearch"}};
  if (endpoint.provider == Provider::anthropic) headers.emplace_back("anthropic-version", "2023-06-01");
  if (!key.empty()) {
    if (endpoint.provider == Provider::openai)
      headers.emplace_back("Authorization", "Bearer " + key);
    else
      headers.emplace_back("x-api-key", key);
  }
  headers.insert(headers.end(), own.begin(), own.end());
  return headers;
}

}  // namespace kernelsearch::detail
