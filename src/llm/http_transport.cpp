// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "http_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cctype>
#include <mutex>
#include <optional>

#include "http_connection.hpp"
#include "kernelsearch/core/error.hpp"
#include "problem/percent_decoded.hpp"
#include "resolve_host.hpp"

namespace kernelsearch::detail {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;
using Clock = HttpTransport::Clock;

Clock::duration seconds(double value) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(value, 1e8)));
}

bool is_timeout(const error_code& error) {
  return error == beast::error::timeout || error == asio::error::timed_out;
}

/// Lines with line ends inside would be other headers.
void append_header(std::string& to, std::string_view name, std::string_view value) {
  ((to += name) += ": ") += value;
  to += "\r\n";
}

}  // namespace

std::string_view HttpHead::header(std::string_view name) const noexcept {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

struct HttpTransport::State {
  Url server;
  std::optional<Url> proxy;
  CallTimeouts timeouts;
  std::size_t largest_answer;
  ssl::context context{ssl::context::tls_client};
  std::mutex mutex;
  std::vector<std::unique_ptr<HttpConnection>> idle;
  std::atomic<std::size_t> made{0};

  [[nodiscard]] HttpFailure cancelled() const {
    return {ChatFailure::cancelled, "the call was cancelled", false};
  }

  /// A limit that was passed, or what broke. `limit` is the phase's own, `whole` the call's.
  HttpFailure failure(const error_code& error, std::string_view doing, const char* limit, double after,
                      Clock::time_point whole) const {
    if (error == asio::error::operation_aborted) return cancelled();
    if (is_timeout(error)) {
      if (Clock::now() >= whole)
        return {ChatFailure::timed_out,
                fmt::format("the call took longer than {} s in all (limit `total`)", timeouts.total), false};
      return {
          ChatFailure::timed_out,
          fmt::format("{} {} took longer than {} s (limit `{}`)", doing, server.authority(), after, limit),
          false};
    }
    return {ChatFailure::network, fmt::format("{} {} failed: {}", doing, server.authority(), error.message()),
            false};
  }

  std::unique_ptr<HttpConnection> kept() {
    const std::lock_guard lock(mutex);
    while (!idle.empty()) {
      std::unique_ptr<HttpConnection> last = std::move(idle.back());
      idle.pop_back();
      // Servers and proxies drop idle connections after about a minute, not all of them with notice.
      if (Clock::now() - last->last_used < std::chrono::seconds(45) && last->quiet()) return last;
    }
    return nullptr;
  }

  void keep(std::unique_ptr<HttpConnection> connection) {
    connection->last_used = Clock::now();
    const std::lock_guard lock(mutex);
    if (idle.size() < 64) idle.push_back(std::move(connection));
  }

  std::optional<HttpFailure> open(HttpConnection& connection, Clock::time_point deadline,
                                  const std::stop_token& stop) {
    const Clock::time_point until = std::min(deadline, Clock::now() + seconds(timeouts.connect));
    const Url& first = proxy ? *proxy : server;
    std::string why;
    const auto endpoints = resolve_host(first.host, first.port, until, stop, why);
    if (endpoints.empty()) {
      if (stop.stop_requested()) return cancelled();
      if (why.empty())
        return failure(beast::error::timeout, "looking up", "connect", timeouts.connect, deadline);
      return HttpFailure{ChatFailure::network,
                         fmt::format("the host `{}` was not found: {}", first.host, why), false};
    }
    if (const error_code error = connection.connect(endpoints, until, stop))
      return failure(error, proxy ? "connecting through the proxy to" : "connecting to", "connect",
                     timeouts.connect, deadline);
    ++made;
    if (!server.secure) return std::nullopt;
    if (proxy)
      if (auto failed = tunnel(connection, until, deadline, stop)) return failed;
    const error_code error = connection.secure(context, server.host, until, stop, why);
    if (!error) return std::nullopt;
    if (!why.empty())
      return HttpFailure{
          ChatFailure::configuration,
          fmt::format("the certificate of {} is not accepted: {}; correct `base_url`, or name the "
                      "authority's certificate in SSL_CERT_FILE",
                      server.authority(), why),
          false};
    return failure(error, "the TLS handshake with", "connect", timeouts.connect, deadline);
  }

  [[nodiscard]] std::string proxy_authorization() const {
    if (proxy->userinfo.empty()) return {};
    return "Basic " + base64(percent_decoded(proxy->userinfo));
  }

  std::optional<HttpFailure> tunnel(HttpConnection& connection, Clock::time_point until,
                                    Clock::time_point deadline, const std::stop_token& stop) const {
    std::string request = fmt::format("CONNECT {} HTTP/1.1\r\n", server.host_and_port());
    append_header(request, "Host", server.host_and_port());
    if (const std::string user = proxy_authorization(); !user.empty())
      append_header(request, "Proxy-Authorization", user);
    request += "\r\n";
    if (const error_code error = connection.write(request, until, stop))
      return failure(error, "asking the proxy for", "connect", timeouts.connect, deadline);
    http::response_parser<http::string_body> parser;
    parser.skip(true);  // an accepted tunnel has no body
    error_code error = http::error::need_more;
    while (!parser.is_header_done()) {
      if (connection.buffer().size() != 0) {
        connection.buffer().consume(parser.put(connection.buffer().data(), error));
        if (error && error != http::error::need_more) break;
        if (!error) continue;
      }
      error = connection.read_some(until, stop);
      if (error) return failure(error, "asking the proxy for", "connect", timeouts.connect, deadline);
    }
    if (!parser.is_header_done())
      return HttpFailure{ChatFailure::network, "the proxy answered what is not HTTP: " + error.message(),
                         false};
    const int status = static_cast<int>(parser.get().result_int());
    if (status >= 200 && status < 300) return std::nullopt;
    return HttpFailure{status == 407 || status == 403 ? ChatFailure::configuration : ChatFailure::network,
                       fmt::format("the proxy {} refuses a tunnel to {}: status {}{}", proxy->authority(),
                                   server.host_and_port(), status,
                                   status == 407 ? "; give it a user and a password in HTTPS_PROXY" : ""),
                       false};
  }

  [[nodiscard]] std::string request_text(const std::string& target, const Headers& headers,
                                         const std::string& body) const {
    std::string text = "POST ";
    const bool through = proxy && !server.secure;
    if (through) (text += "http://") += server.authority();
    (text += target.empty() ? "/" : target) += " HTTP/1.1\r\n";
    append_header(text, "Host", server.authority());
    if (through)
      if (const std::string user = proxy_authorization(); !user.empty())
        append_header(text, "Proxy-Authorization", user);
    for (const auto& [name, value] : headers) append_header(text, name, value);
    append_header(text, "Content-Length", std::to_string(body.size()));
    return (text += "\r\n") += body;
  }

  /// One request and its answer on an open connection; `reusable` tells whether another may follow.
  std::optional<HttpFailure> exchange(HttpConnection& connection, const std::string& request,
                                      Clock::time_point deadline, const std::stop_token& stop, HttpSink& sink,
                                      bool& reusable) {
    reusable = false;
    const Clock::time_point first = std::min(deadline, Clock::now() + seconds(timeouts.first_byte));
    error_code written = connection.write(request, first, stop);
    // A server that refuses a request may answer before it has read it, and close.
    if (written && written != asio::error::broken_pipe && written != asio::error::connection_reset)
      return failure(written, "sending to", "first_byte", timeouts.first_byte, deadline);

    bool answered = false;
    const auto fail = [&](HttpFailure failed) {
      failed.answered = answered;
      return failed;
    };
    for (;;) {  // once more after each 1xx
      http::response_parser<http::string_body> parser;
      parser.header_limit(64 * 1024);
      parser.body_limit(largest_answer);
      parser.eager(true);
      bool head_told = false;
      while (!parser.is_done()) {
        error_code error = http::error::need_more;
        if (connection.buffer().size() != 0) {
          connection.buffer().consume(parser.put(connection.buffer().data(), error));
          if (error == http::error::body_limit)
            return fail({ChatFailure::malformed,
                         fmt::format("the answer is longer than {} bytes", largest_answer), true});
          if (error && error != http::error::need_more)
            return fail({ChatFailure::malformed, "the answer is not HTTP: " + error.message(), true});
          if (parser.is_header_done() && !head_told && parser.get().result_int() >= 200) {
            head_told = true;
            tell_head(parser.get(), sink);
          }
          if (head_told && !parser.get().body().empty()) {
            const bool more = sink.body(parser.get().body());
            parser.get().body().clear();
            if (!more) return std::nullopt;
          }
          if (parser.is_done()) break;
          if (!error && connection.buffer().size() != 0) continue;
        }
        // Waiting a moment for the end of an answer whose content is complete lets the connection be kept.
        const double patience = sink.over ? std::min(timeouts.idle, 1.0) : timeouts.idle;
        error = connection.read_some(answered ? std::min(deadline, Clock::now() + seconds(patience)) : first,
                                     stop);
        if (error && sink.over) return std::nullopt;
        if (error) {
          // An answer without a length ends with the connection, and nothing tells whether it was cut.
          error_code ended;
          if (error == asio::error::eof && parser.is_header_done()) {
            parser.put_eof(ended);
            if (!ended) break;
          }
          if (error == asio::error::eof || error == ssl::error::stream_truncated ||
              error == asio::error::connection_reset)
            return fail({ChatFailure::network,
                         answered
                             ? "the connection ended in the middle of the answer"
                             : fmt::format("{} closed the connection without an answer", server.authority()),
                         answered});
          return fail(answered
                          ? failure(error, "the next part of the answer of", "idle", timeouts.idle, deadline)
                          : failure(error, "the answer of", "first_byte", timeouts.first_byte, deadline));
        }
        answered = true;
      }
      if (parser.get().result_int() < 200) continue;
      if (!head_told) tell_head(parser.get(), sink);
      if (!parser.get().body().empty()) sink.body(parser.get().body());
      reusable = parser.keep_alive() && !written && connection.buffer().size() == 0;
      return std::nullopt;
    }
  }

  template <class Message>
  static void tell_head(const Message& message, HttpSink& sink) {
    HttpHead head;
    head.status = static_cast<int>(message.result_int());
    for (const auto& field : message) {
      std::string name(field.name_string());
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      head.headers.emplace_back(std::move(name), std::string(field.value()));
    }
    sink.head(head);
  }
};

HttpTransport::HttpTransport(Url server, const ProxySettings& proxies, CallTimeouts timeouts,
                             std::string ca_file, std::size_t largest_answer)
    : state_(std::make_unique<State>()) {
  state_->server = std::move(server);
  state_->timeouts = timeouts;
  state_->largest_answer = largest_answer;
  const Url& to = state_->server;
  if (const std::string& proxy = proxies.for_target(to.secure, to.host, to.port); !proxy.empty()) {
    state_->proxy = parse_url(proxy.find("://") == std::string::npos ? "http://" + proxy : proxy);
    if (!state_->proxy || state_->proxy->secure)
      raise<ConfigError>("a proxy is not an http URL", "in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY",
                         "write http://host:port, or except the host with NO_PROXY");
  }
  if (!to.secure) return;
  state_->context.set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                              ssl::context::no_sslv3 | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
  error_code error;
  state_->context.set_default_verify_paths(error);  // SSL_CERT_FILE and SSL_CERT_DIR, else the system's
  if (!ca_file.empty()) {
    state_->context.load_verify_file(ca_file, error);
    if (error)
      raise<ConfigError>("a file of certificates cannot be read", ca_file + ": " + error.message(),
                         "name one in PEM format");
  }
}

HttpTransport::~HttpTransport() = default;

std::size_t HttpTransport::connections() const noexcept {
  return state_->made;
}

std::optional<HttpFailure> HttpTransport::post(const std::string& target, const Headers& headers,
                                               const std::string& body, Clock::time_point deadline,
                                               const std::stop_token& stop, HttpSink& sink) {
  const std::string request = state_->request_text(target, headers, body);
  for (;;) {
    std::unique_ptr<HttpConnection> connection = state_->kept();
    const bool used_before = connection != nullptr;
    if (!used_before) connection = std::make_unique<HttpConnection>();
    std::optional<HttpFailure> failed;
    bool reusable = false;
    {
      const std::stop_callback closing(stop, [&] { connection->close_from_outside(); });
      if (!used_before) failed = state_->open(*connection, deadline, stop);
      if (!failed) failed = state_->exchange(*connection, request, deadline, stop, sink, reusable);
    }
    // A kept connection that broke before a byte of the answer was closed by the server at the same time.
    if (failed && used_before && !failed->answered && failed->failure == ChatFailure::network) continue;
    if (!failed && reusable && !stop.stop_requested()) state_->keep(std::move(connection));
    return failed;
  }
}

}  // namespace kernelsearch::detail
