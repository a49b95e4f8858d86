// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsearch {

/// Who says a message.
enum class Speaker : std::uint8_t { system, user, assistant };

[[nodiscard]] constexpr std::string_view to_string(Speaker speaker) noexcept {
  constexpr std::string_view names[] = {"system", "user", "assistant"};
  return names[static_cast<int>(speaker)];
}

struct Message {
  Speaker speaker = Speaker::user;
  std::string text;
  /// What precedes and includes it stays the same over many calls: providers may keep it in a cache.
  bool stable = false;
  friend bool operator==(const Message&, const Message&) = default;
};

/// One question to a model. What changes least comes first, so that providers' prefix caches hit.
struct ChatRequest {
  std::string role;   ///< who asks, for ledgers, prices and temperatures: `planner`, `coder`, ...
  std::string model;  ///< as the provider calls it; empty: the model file's choice for the role
  std::vector<Message> messages;
  std::optional<double> temperature;  ///< nothing: the provider's own
  std::uint32_t max_tokens = 4096;    ///< of the reply, reasoning included
  std::vector<std::string> stop;      ///< texts that end the reply
  std::string json_schema;            ///< of the reply, where the provider can enforce one; empty: free text
  std::string json_schema_name;
  std::uint64_t repetition = 0;  ///< tells equal questions apart whose replies shall differ (best of K)
  friend bool operator==(const ChatRequest&, const ChatRequest&) = default;
};

/// Tokens as the provider counted them; `cached` and `reasoning` are parts of `input` and `output`.
struct TokenUsage {
  std::uint64_t input = 0, output = 0, cached = 0, cache_written = 0, reasoning = 0;
  [[nodiscard]] std::uint64_t total() const noexcept { return input + output; }
  friend bool operator==(const TokenUsage&, const TokenUsage&) = default;
};

/// Why a reply ended.
enum class FinishReason : std::uint8_t {
  stop,     ///< complete
  length,   ///< cut at the limit of tokens
  refusal,  ///< the model declined
  filter,   ///< the provider withheld it
  other,
};

[[nodiscard]] constexpr std::string_view to_string(FinishReason reason) noexcept {
  constexpr std::string_view names[] = {"stop", "length", "refusal", "filter", "other"};
  return names[static_cast<int>(reason)];
}

/// A reply, or the error in its place.
struct ChatReply {
  std::string text;
  FinishReason finish = FinishReason::stop;
  TokenUsage usage;
  std::string model;  ///< as the provider names what answered
  double seconds = 0.0;
  std::uint32_t attempts = 1;
  bool replayed = false;  ///< from a recording: nobody was asked and nothing paid
};

/// Why there is no reply.
enum class ChatFailure : std::uint8_t {
  configuration,   ///< no key, no such model, a bad base URL, a request that the provider refuses
  authentication,  ///< the key is refused
  quota,           ///< no credit left; trying again does not help
  budget,          ///< our own limit of tokens or money would be passed; nothing was sent
  rate_limited,    ///< still, after every retry
  server,          ///< the provider's fault, still after every retry
  network,         ///< no connection, or it broke
  timed_out,
  malformed,  ///< a reply that does not read
  cancelled,
  not_recorded,  ///< a replay that has no such exchange
};

[[nodiscard]] constexpr std::string_view to_string(ChatFailure failure) noexcept {
  constexpr std::string_view names[] = {"configuration", "authentication", "quota",       "budget",
                                        "rate_limited",  "server",         "network",     "timed_out",
                                        "malformed",     "cancelled",      "not_recorded"};
  return names[static_cast<int>(failure)];
}

struct ChatError {
  ChatFailure failure = ChatFailure::server;
  std::string text;  ///< what, what was given, what to do; never a key
  int http_status = 0;
  std::uint32_t attempts = 1;
  TokenUsage usage;  ///< of attempts that were paid for
};

/// A reply or an error; an error is not an exception, since searches continue without the model.
struct ChatResult {
  std::optional<ChatReply> reply;
  ChatError error;  ///< meaningful without a reply

  [[nodiscard]] explicit operator bool() const noexcept { return reply.has_value(); }
  [[nodiscard]] static ChatResult failed(ChatFailure failure, std::string text) {
    ChatResult result;
    result.error.failure = failure;
    result.error.text = std::move(text);
    return result;
  }
};

}  // namespace kernelsearch
