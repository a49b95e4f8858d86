// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "kernelsearch/llm/chat_model.hpp"
#include "kernelsearch/llm/recorded_model.hpp"

namespace kernelsearch {

/// Answers from a recording and nothing else: no key, no network. A question that is not in it is
/// `ChatFailure::not_recorded`.
class ReplayModel {
 public:
  explicit ReplayModel(std::string folder)
      : folder_(std::make_shared<const ExchangeFolder>(std::move(folder))) {}
  explicit ReplayModel(std::shared_ptr<const ExchangeFolder> folder) : folder_(std::move(folder)) {}

  [[nodiscard]] ChatResult chat(const ChatRequest& request, std::stop_token = {}) const {
    return detail::replayed_exchange(*folder_, request, folder_->asked(request));
  }

 private:
  std::shared_ptr<const ExchangeFolder> folder_;
};

static_assert(ChatModel<const ReplayModel>);

}  // namespace kernelsearch
