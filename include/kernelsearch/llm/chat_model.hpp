// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <stop_token>
#include <utility>

#include "kernelsearch/llm/chat.hpp"

namespace kernelsearch {

/// Answers questions: a provider's model, a recording, a script of a test.
///
/// 1. `model.chat(request, stop)` blocks until there is a reply or an error, and returns a `ChatResult`. It
///    may be called from several threads at once, and returns soon with `cancelled` after `stop` was
///    requested.
///
/// See docs/extending.md#chat-model.
template <class M>
concept ChatModel = requires(M& model, const ChatRequest& request, std::stop_token stop) {
  { model.chat(request, stop) } -> std::same_as<ChatResult>;
};

/// A chat model chosen when the program runs; copies share it.
class AnyChatModel {
 public:
  AnyChatModel() = default;
  template <ChatModel M>
  requires(!std::same_as<M, AnyChatModel>) AnyChatModel(M model)  // NOLINT: a model is a model
      : AnyChatModel(std::make_shared<M>(std::move(model))) {}
  template <ChatModel M>
  AnyChatModel(std::shared_ptr<M> model)  // NOLINT
      : chat_([model = std::move(model)](const ChatRequest& request, std::stop_token stop) {
          return model->chat(request, std::move(stop));
        }) {}

  [[nodiscard]] ChatResult chat(const ChatRequest& request, std::stop_token stop = {}) const {
    if (!chat_)
      return ChatResult::failed(ChatFailure::configuration, "no model was given; name one with --model");
    return chat_(request, std::move(stop));
  }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(chat_); }

 private:
  std::function<ChatResult(const ChatRequest&, std::stop_token)> chat_;
};

static_assert(ChatModel<const AnyChatModel>);

}  // namespace kernelsearch
