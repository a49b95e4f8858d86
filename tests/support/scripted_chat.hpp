// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/llm/chat_model.hpp"

/// Answers as a test tells it and remembers what it was asked. Copies share both. Written for tests: no model
/// said any of this.
class ScriptedChat {
 public:
  using Answer = std::function<kernelsearch::ChatResult(const kernelsearch::ChatRequest&)>;

  explicit ScriptedChat(Answer answer) : state_(std::make_shared<State>()) {
    state_->answer = std::move(answer);
  }

  kernelsearch::ChatResult chat(const kernelsearch::ChatRequest& request, std::stop_token) {
    {
      const std::lock_guard lock(state_->mutex);
      state_->asked.push_back(request);
    }
    return state_->answer(request);
  }

  [[nodiscard]] std::vector<kernelsearch::ChatRequest> asked() const {
    const std::lock_guard lock(state_->mutex);
    return state_->asked;
  }

  static kernelsearch::ChatResult reply(
      std::string text, kernelsearch::TokenUsage usage = {},
      kernelsearch::FinishReason finish = kernelsearch::FinishReason::stop) {
    kernelsearch::ChatResult result;
    result.reply.emplace();
    result.reply->text = std::move(text);
    result.reply->usage = usage;
    result.reply->finish = finish;
    result.reply->model = "scripted";
    return result;
  }

  static kernelsearch::ChatRequest question(std::string text, std::string role = "coder") {
    kernelsearch::ChatRequest request;
    request.role = std::move(role);
    request.model = "scripted";
    request.messages = {{kernelsearch::Speaker::user, std::move(text), false}};
    return request;
  }

 private:
  struct State {
    Answer answer;
    std::mutex mutex;
    std::vector<kernelsearch::ChatRequest> asked;
  };
  std::shared_ptr<State> state_;
};
