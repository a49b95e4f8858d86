// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/llm/prices.hpp"

namespace kernelsearch {

/// The interface that a server speaks: chat completions as OpenAI has them, or messages as Anthropic has
/// them.
enum class Provider : std::uint8_t { openai, anthropic };

[[nodiscard]] constexpr std::string_view to_string(Provider provider) noexcept {
  return provider == Provider::openai ? "openai" : "anthropic";
}

/// How a server is told that a reply must follow a JSON schema.
enum class StructuredOutput : std::uint8_t {
  json_schema,  ///< the provider enforces the schema
  json_object,  ///< only that it is JSON (chat completions of some local servers)
  none,         ///< not at all; the prompt must say it
};

/// Limits of one model; 0 of the first: no limit.
struct EndpointLimits {
  std::uint32_t requests_per_minute = 0;
  std::uint32_t concurrency = 8;
  std::uint32_t max_tokens = 32768;  ///< no reply is asked to be longer
  friend bool operator==(const EndpointLimits&, const EndpointLimits&) = default;
};

/// Seconds after which a call is given up, each for its own reason.
struct CallTimeouts {
  double connect = 15.0;      ///< name, connection, proxy and certificate together
  double first_byte = 300.0;  ///< a model may think long before it says anything
  double idle = 90.0;         ///< between two pieces of a reply
  double total = 1200.0;      ///< a call with its retries, from when its turn has come
  friend bool operator==(const CallTimeouts&, const CallTimeouts&) = default;
};

/// Where a model is reached, and how; see docs/models.md. Holds no key, only the name of its variable.
struct Endpoint {
  std::string name;  ///< in the model file
  Provider provider = Provider::openai;
  std::string base_url;  ///< `http://` or `https://`; `/chat/completions` or `/v1/messages` is added
  std::string model;     ///< as the provider calls it
  std::string key_env;   ///< environment variable that holds the key; empty: none is sent
  std::optional<Prices> prices;
  EndpointLimits limits;
  CallTimeouts timeouts;
  std::vector<std::pair<std::string, std::string>> headers;  ///< a value `env:NAME` is that variable's
  bool stream = true;
  bool send_temperature = true;  ///< false for models that refuse one
  StructuredOutput structured = StructuredOutput::json_schema;
  std::string max_tokens_field = "max_tokens";  ///< `max_completion_tokens` for OpenAI's reasoning models
  std::string parameters;  ///< a JSON object that is merged into each request; empty: nothing

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

}  // namespace kernelsearch
