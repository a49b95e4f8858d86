// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stop_token>
#include <string>

#include "kernelsearch/llm/chat.hpp"
#include "kernelsearch/llm/http_chat_model.hpp"

namespace kernelsearch {

/// What one tiny call told of a model.
struct PingReport {
  bool answered = false;
  ChatResult result;
  double money = 0.0;  ///< 0 without prices
  std::string text;    ///< one line for a person: what answered, how fast, for how much, or what to do
};

/// Asks a model for one word, without retries; of use to `doctor`. At most 256 tokens are paid for.
[[nodiscard]] PingReport ping_model(const Endpoint& endpoint, HttpOptions options = {},
                                    std::stop_token stop = {});

}  // namespace kernelsearch
