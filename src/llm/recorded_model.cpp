// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/recorded_model.hpp"

namespace kernelsearch::detail {

ChatResult replayed_exchange(const ExchangeFolder& folder, const ChatRequest& request,
                             const ExchangeFolder::Asked& asked) {
  try {
    if (std::optional<ChatResult> known = folder.find(asked)) return std::move(*known);
  } catch (const ConfigError& error) {
    return ChatResult::failed(ChatFailure::configuration, error.what());
  }
  return ChatResult::failed(
      ChatFailure::not_recorded,
      error_text("the recording has no such exchange",
                 folder.folder() + ", role `" + request.role + "`, digest " + asked.digest,
                 "the run differs from the recorded one; record it again, or allow to ask"));
}

bool worth_keeping(const ChatResult& result) noexcept {
  if (result) return true;
  switch (result.error.failure) {
    case ChatFailure::cancelled:
    case ChatFailure::budget:
    case ChatFailure::not_recorded:
    case ChatFailure::configuration:
    case ChatFailure::authentication:
      return false;
    default:
      return true;
  }
}

}  // namespace kernelsearch::detail
