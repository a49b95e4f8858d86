// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
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
  using Request = kernelsearch::ChatRequest;
  using Result = kernelsearch::ChatResult;
  /// An answer computed from the request and its number.
  using Rule = std::function<Result(const Request&, std::size_t number)>;

  template <std::invocable<const Request&, std::size_t> F>
  explicit ScriptedChat(F rule) : state_(std::make_shared<State>()) {
    state_->rule = std::move(rule);
  }
  template <std::invocable<const Request&> F>
  explicit ScriptedChat(F answer)
      : ScriptedChat([answer = std::move(answer)](const Request& request, std::size_t) mutable {
          return answer(request);
        }) {}

  /// These replies, one after the other; after the last an error.
  static ScriptedChat replies(std::vector<std::string> texts) {
    return ScriptedChat([texts = std::move(texts)](const Request&, std::size_t number) {
      return number < texts.size() ? says(texts[number]) : fails("the script has ended");
    });
  }

  Result chat(const Request& request, std::stop_token) {
    std::size_t number = 0;
    {
      const std::lock_guard lock(state_->mutex);
      number = state_->asked.size();
      state_->asked.push_back(request);
    }
    return state_->rule(request, number);
  }

  [[nodiscard]] std::vector<Request> asked() const {
    const std::lock_guard lock(state_->mutex);
    return state_->asked;
  }
  [[nodiscard]] std::vector<Request> requests() const { return asked(); }
  [[nodiscard]] std::size_t calls() const { return asked().size(); }

  static Result reply(std::string text, kernelsearch::TokenUsage usage = {},
                      kernelsearch::FinishReason finish = kernelsearch::FinishReason::stop) {
    Result result;
    result.reply.emplace();
    result.reply->text = std::move(text);
    result.reply->usage = usage;
    result.reply->finish = finish;
    result.reply->model = "scripted";
    return result;
  }
  static Result says(std::string text, kernelsearch::FinishReason finish = kernelsearch::FinishReason::stop) {
    return reply(std::move(text), {}, finish);
  }
  static Result fails(std::string text) {
    return Result::failed(kernelsearch::ChatFailure::server, std::move(text));
  }

  static Request question(std::string text, std::string role = "coder") {
    Request request;
    request.role = std::move(role);
    request.model = "scripted";
    request.messages = {{kernelsearch::Speaker::user, std::move(text), false}};
    return request;
  }
  /// All texts of a request, one after the other.
  static std::string text_of(const Request& request) {
    std::string text;
    for (const kernelsearch::Message& message : request.messages) text += message.text + '\n';
    return text;
  }

 private:
  struct State {
    Rule rule;
    std::mutex mutex;
    std::vector<Request> asked;
  };
  std::shared_ptr<State> state_;
};
