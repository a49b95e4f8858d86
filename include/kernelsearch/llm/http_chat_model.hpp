// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "kernelsearch/llm/chat_model.hpp"
#include "kernelsearch/llm/endpoint.hpp"
#include "kernelsearch/llm/proxy_settings.hpp"
#include "kernelsearch/llm/retry_policy.hpp"

namespace kernelsearch {

struct HttpOptions {
  RetryOptions retry;
  std::optional<ProxySettings> proxies;  ///< nothing: the environment's
  std::string ca_file;                   ///< certificates to trust besides SSL_CERT_FILE's or the system's
  std::size_t largest_reply = std::size_t{64} << 20;  ///< bytes
  std::uint64_t seed = 0;                             ///< of the jitter; 0: another one in each process
  /// Is told, from any thread, what went wrong with an attempt that is made again, and when; never a key.
  std::function<void(const std::string&)> on_retry = nullptr;
};

/// A model behind an HTTP interface: chat completions or messages, streamed or not, with retries, time
/// limits, limits of rate and concurrency, proxies and checked certificates. Connections are kept and used
/// again. The key is read from the environment at each call; no text that comes from here holds it.
class HttpChatModel {
 public:
  explicit HttpChatModel(Endpoint endpoint, HttpOptions options = {});
  HttpChatModel(HttpChatModel&&) noexcept;
  HttpChatModel& operator=(HttpChatModel&&) noexcept;
  ~HttpChatModel();

  /// Safe from several threads at once. An empty `request.model` is the endpoint's.
  [[nodiscard]] ChatResult chat(const ChatRequest& request, std::stop_token stop = {});

  [[nodiscard]] const Endpoint& endpoint() const noexcept;
  /// Connections made so far, for tests of their use again.
  [[nodiscard]] std::size_t connections() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

static_assert(ChatModel<HttpChatModel>);

}  // namespace kernelsearch
