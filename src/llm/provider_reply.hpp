// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kernelsearch/llm/chat.hpp"
#include "kernelsearch/llm/endpoint.hpp"

namespace kernelsearch::detail {

/// What a provider said in place of a reply.
struct ProviderError {
  ChatFailure failure = ChatFailure::server;
  int http_status = 0;
  std::string text;  ///< the provider's own words, cut to a readable length
};

/// What could be read of a reply so far; `error` or `malformed` where it is not one.
struct ProviderReply {
  std::string text;
  std::string refusal;
  std::optional<FinishReason> finish;
  TokenUsage usage;
  std::string model;
  std::optional<ProviderError> error;
  std::string malformed;  ///< what is wrong with it
};

/// The body of an answer that is not streamed, whatever its status.
[[nodiscard]] ProviderReply read_reply(Provider provider, int http_status, std::string_view body);

/// Puts a streamed reply together, event by event.
class ReplyStream {
 public:
  explicit ReplyStream(Provider provider, std::size_t largest = std::size_t{64} << 20);
  ReplyStream(const ReplyStream&) = delete;
  ReplyStream& operator=(const ReplyStream&) = delete;
  ~ReplyStream();

  /// False once nothing more is to be read: the reply is over, an error, or malformed.
  bool event(std::string_view type, std::string_view data);
  /// Whether the provider has said that the reply is complete.
  [[nodiscard]] bool over() const noexcept { return over_; }
  [[nodiscard]] ProviderReply& reply() noexcept { return reply_; }

 private:
  struct Memory;
  bool malformed(std::string text);

  Provider provider_;
  std::size_t largest_;
  bool over_ = false;
  ProviderReply reply_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace kernelsearch::detail
