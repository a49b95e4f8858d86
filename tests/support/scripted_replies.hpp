// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/llm/chat_model.hpp"

/// A model whose replies a rule of the test computes from the request and its number; no real model made
/// them. Copies share the requests.
class ScriptedReplies {
 public:
  using Rule = std::function<kernelsearch::ChatResult(const kernelsearch::ChatRequest&, std::size_t number)>;

  explicit ScriptedReplies(Rule rule) : state_(std::make_shared<State>()) { state_->rule = std::move(rule); }

  /// These replies, one after the other; after the last an error.
  static ScriptedReplies replies(std::vector<std::string> texts) {
    return ScriptedReplies([texts = std::move(texts)](const kernelsearch::ChatRequest&, std::size_t number) {
      return number < texts.size() ? says(texts[number]) : fails("the script has ended");
    });
  }

  static kernelsearch::ChatResult says(std::string text,
                                       kernelsearch::FinishReason finish = kernelsearch::FinishReason::stop) {
    kernelsearch::ChatResult result;
    result.reply.emplace();
    result.reply->text = std::move(text);
    result.reply->finish = finish;
    return result;
  }
  static kernelsearch::ChatResult fails(std::string text) {
    return kernelsearch::ChatResult::failed(kernelsearch::ChatFailure::server, std::move(text));
  }

  kernelsearch::ChatResult chat(const kernelsearch::ChatRequest& request, std::stop_token) {
    std::size_t number = 0;
    {
      const std::lock_guard lock(state_->mutex);
      number = state_->requests.size();
      state_->requests.push_back(request);
    }
    return state_->rule(request, number);
  }

  [[nodiscard]] std::vector<kernelsearch::ChatRequest> requests() const {
    const std::lock_guard lock(state_->mutex);
    return state_->requests;
  }
  [[nodiscard]] std::size_t calls() const { return requests().size(); }

  /// All texts of a request, one after the other.
  static std::string text_of(const kernelsearch::ChatRequest& request) {
    std::string text;
    for (const kernelsearch::Message& message : request.messages) text += message.text + '\n';
    return text;
  }

 private:
  struct State {
    Rule rule;
    std::mutex mutex;
    std::vector<kernelsearch::ChatRequest> requests;
  };
  std::shared_ptr<State> state_;
};
