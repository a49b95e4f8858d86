// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/agents/dialogue_log.hpp"
#include "kernelsearch/agents/prompt_library.hpp"
#include "kernelsearch/llm/chat_model.hpp"
#include "kernelsearch/problem/digest.hpp"

namespace kernelsearch::detail {

[[nodiscard]] inline std::string hash_of(const std::vector<Message>& messages) {
  std::string all;
  for (const Message& message : messages)
    all += fmt::format("{} {}\n{}\n", to_string(message.speaker), message.text.size(), message.text);
  return sha256(all);
}

/// A question and what came back, as far as it can be told without reading the reply: who asked adds the
/// judgement, the move and the kernel.
[[nodiscard]] inline Exchange exchange_of(const ChatRequest& request, const ChatResult& result,
                                          const PromptLibrary& prompts, std::string_view prompt,
                                          std::size_t attempt) {
  Exchange exchange;
  exchange.role = request.role;
  exchange.prompt = prompt;
  exchange.template_hash = prompts.find(prompt).hash();
  exchange.question_hash = hash_of(request.messages);
  exchange.attempt = static_cast<std::uint32_t>(attempt);
  if (result) {
    exchange.reply_hash = sha256(result.reply->text);
    exchange.model = result.reply->model;
    exchange.usage = result.reply->usage;
  } else {
    exchange.error = result.error;
    exchange.usage = result.error.usage;
  }
  return exchange;
}

}  // namespace kernelsearch::detail
