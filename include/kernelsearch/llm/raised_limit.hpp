// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <stop_token>
#include <utility>

#include "kernelsearch/llm/chat_model.hpp"

namespace kernelsearch {

/// Asks again, once and with a larger limit, where a reply is empty because thinking has used the limit up.
/// It is another question, with a budget and a recording of its own, so this goes around `LedgeredModel` and
/// `RecordedModel`; it is not counted as an attempt.
template <ChatModel M>
class RaisedLimit {
 public:
  /// `most` tokens are never passed.
  RaisedLimit(M model, std::uint32_t most) : model_(std::move(model)), most_(most) {}

  [[nodiscard]] ChatResult chat(const ChatRequest& request, std::stop_token stop = {}) {
    ChatResult first = model_.chat(request, stop);
    if (!first || !first.reply->text.empty() || first.reply->finish != FinishReason::length) return first;
    // Four times: what thinking has used up once it may well use up twice.
    const auto raised =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(most_, std::uint64_t{request.max_tokens} * 4));
    if (raised <= request.max_tokens) return first;
    ChatRequest longer = request;
    longer.max_tokens = raised;
    ChatResult second = model_.chat(longer, std::move(stop));
    const TokenUsage& paid = first.reply->usage;
    TokenUsage& usage = second ? second.reply->usage : second.error.usage;
    usage.input += paid.input;
    usage.output += paid.output;
    usage.cached += paid.cached;
    usage.cache_written += paid.cache_written;
    usage.reasoning += paid.reasoning;
    if (second) second.reply->seconds += first.reply->seconds;
    return second;
  }

 private:
  M model_;
  std::uint32_t most_;
};

}  // namespace kernelsearch
