// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/llm/chat.hpp"
#include "kernelsearch/llm/endpoint.hpp"
#include "kernelsearch/llm/proxy_settings.hpp"
#include "url.hpp"

namespace kernelsearch::detail {

/// Why there is no whole answer.
struct HttpFailure {
  ChatFailure failure = ChatFailure::network;
  std::string text;
  bool answered = false;  ///< a part of an answer came
};

/// Status and headers, their names in lower case.
struct HttpHead {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept;
};

/// Takes an answer as it comes.
struct HttpSink {
  std::function<void(const HttpHead&)> head;
  std::function<bool(std::string_view)> body;  ///< false: enough, the rest is not read
  bool over = false;  ///< set by `body`: nothing of use follows, only what ends the answer
};

/// Posts to one server over connections that are kept: HTTP/1.1, plain or TLS, through a proxy or not. Safe
/// from several threads, each of which has a connection and an event loop of its own for the time of a post.
class HttpTransport {
 public:
  using Clock = std::chrono::steady_clock;
  using Headers = std::vector<std::pair<std::string, std::string>>;

  /// A ConfigError for a proxy that is not an http URL, and for a file of certificates that cannot be read.
  HttpTransport(Url server, const ProxySettings& proxies, CallTimeouts timeouts, std::string ca_file,
                std::size_t largest_answer);
  HttpTransport(const HttpTransport&) = delete;
  HttpTransport& operator=(const HttpTransport&) = delete;
  ~HttpTransport();

  /// Blocks until the answer is over; nothing, or why it is not whole.
  std::optional<HttpFailure> post(const std::string& target, const Headers& headers, const std::string& body,
                                  Clock::time_point deadline, const std::stop_token& stop, HttpSink& sink);

  [[nodiscard]] std::size_t connections() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernelsearch::detail
