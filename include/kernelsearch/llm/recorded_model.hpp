// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/llm/chat_model.hpp"
#include "kernelsearch/llm/exchange_folder.hpp"

namespace kernelsearch {

enum class RecordMode : std::uint8_t {
  record,           ///< always ask, and keep what comes
  replay,           ///< never ask
  replay_else_ask,  ///< ask only what has no reply yet: how a killed run resumes without paying twice
};

[[nodiscard]] constexpr std::string_view to_string(RecordMode mode) noexcept {
  constexpr std::string_view names[] = {"record", "replay", "replay_else_ask"};
  return names[static_cast<int>(mode)];
}

namespace detail {

/// Makes equal questions wait for each other, so that the second finds the first one's reply.
class InFlight {
 public:
  [[nodiscard]] bool enter(const std::string& digest, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [&] { return !digests_.count(digest); })) return false;
    digests_.insert(digest);
    return true;
  }
  void leave(const std::string& digest) {
    const std::lock_guard lock(mutex_);
    digests_.erase(digest);
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::set<std::string> digests_;
};

/// The recording's side of a call, shared by every `RecordedModel`.
[[nodiscard]] ChatResult replayed_exchange(const ExchangeFolder& folder, const ChatRequest& request,
                                           const ExchangeFolder::Asked& asked);
/// Whether a failure would come again in the same place of the same run; a cancelled call would not.
[[nodiscard]] bool worth_keeping(const ChatResult& result) noexcept;

}  // namespace detail

/// Keeps every exchange of a model in a folder, and answers from it. Replies are returned as a replay will
/// return them, so that a run and its replay see the same bytes. Failures are kept for `replay` and asked
/// again otherwise.
template <ChatModel M>
class RecordedModel {
 public:
  RecordedModel(M model, std::shared_ptr<const ExchangeFolder> folder, RecordMode mode)
      : model_(std::move(model)), folder_(std::move(folder)), mode_(mode) {}

  [[nodiscard]] ChatResult chat(const ChatRequest& request, std::stop_token stop = {}) {
    if (mode_ == RecordMode::replay)
      return detail::replayed_exchange(*folder_, request, folder_->asked(request));
    const ExchangeFolder::Asked asked = folder_->asked(request);
    if (!in_flight_->enter(asked.digest, stop))
      return ChatResult::failed(ChatFailure::cancelled, "the call was cancelled");
    const Leave leave(*in_flight_, asked.digest);
    if (mode_ == RecordMode::replay_else_ask) {
      ChatResult known = detail::replayed_exchange(*folder_, request, asked);
      // A damaged file is an error: the question is not paid for again.
      if (known || known.error.failure == ChatFailure::configuration) return known;
    }
    ChatResult result = model_.chat(request, std::move(stop));
    return detail::worth_keeping(result) ? folder_->keep(asked, result) : result;
  }

 private:
  struct Leave {
    detail::InFlight& in_flight;
    const std::string& digest;
    Leave(detail::InFlight& all, const std::string& one) : in_flight(all), digest(one) {}
    Leave(const Leave&) = delete;
    Leave& operator=(const Leave&) = delete;
    ~Leave() { in_flight.leave(digest); }
  };

  M model_;
  std::shared_ptr<const ExchangeFolder> folder_;
  std::unique_ptr<detail::InFlight> in_flight_ = std::make_unique<detail::InFlight>();
  RecordMode mode_;
};

}  // namespace kernelsearch
