// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <cerrno>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelsearch::detail {

/// A socket with its own event loop. Every operation is asynchronous inside, so that a deadline and a stop
/// end it.
class HttpConnection {
 public:
  using Clock = std::chrono::steady_clock;
  using error_code = boost::system::error_code;

  HttpConnection() : io_(1), tcp_(io_) {}

  /// Starts an operation and runs the loop until its end.
  template <class Start>
  error_code perform(Clock::time_point deadline, const std::stop_token& stop, Start&& start) {
    if (stop.stop_requested()) return boost::asio::error::operation_aborted;
    io_.restart();
    tcp_.expires_at(deadline);
    error_code result = boost::asio::error::operation_aborted;
    start([&result](error_code error, auto&&...) { result = error; });
    io_.run();
    return stop.stop_requested() ? error_code(boost::asio::error::operation_aborted) : result;
  }

  /// May be called from any thread while the connection lives.
  void close_from_outside() {
    boost::asio::post(io_, [this] { tcp_.close(); });
  }

  error_code connect(const std::vector<boost::asio::ip::tcp::endpoint>& endpoints, Clock::time_point deadline,
                     const std::stop_token& stop) {
    const error_code error =
        perform(deadline, stop, [&](auto done) { tcp_.async_connect(endpoints, std::move(done)); });
    error_code ignored;
    if (!error) tcp_.socket().set_option(boost::asio::ip::tcp::no_delay(true), ignored);
    return error;
  }

  /// The handshake; `why` says what is wrong with the certificate where that is why it failed.
  error_code secure(boost::asio::ssl::context& context, const std::string& host, Clock::time_point deadline,
                    const std::stop_token& stop, std::string& why) {
    tls_.emplace(tcp_, context);
    tls_->set_verify_mode(boost::asio::ssl::verify_peer);
    tls_->set_verify_callback(boost::asio::ssl::host_name_verification(host));
    error_code no_address;
    (void)boost::asio::ip::make_address(host, no_address);
    if (no_address) SSL_set_tlsext_host_name(tls_->native_handle(), host.c_str());
    const error_code error = perform(deadline, stop, [&](auto done) {
      tls_->async_handshake(boost::asio::ssl::stream_base::client, std::move(done));
    });
    if (error && error.category() == boost::asio::error::get_ssl_category()) {
      const long verified = SSL_get_verify_result(tls_->native_handle());
      // Where the system has no certificates, OpenSSL's first error may be that its folder cannot be opened.
      if (verified != X509_V_OK)
        why = X509_verify_cert_error_string(verified);
      else if (ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_CERTIFICATE_VERIFY_FAILED)
        why = "it is for another host";
    }
    return error;
  }

  error_code write(std::string_view bytes, Clock::time_point deadline, const std::stop_token& stop) {
    return perform(deadline, stop, [&](auto done) {
      const auto buffer = boost::asio::buffer(bytes.data(), bytes.size());
      tls_ ? boost::asio::async_write(*tls_, buffer, std::move(done))
           : boost::asio::async_write(tcp_, buffer, std::move(done));
    });
  }

  /// Appends what comes next to `buffer()`.
  error_code read_some(Clock::time_point deadline, const std::stop_token& stop) {
    std::size_t count = 0;
    const error_code error = perform(deadline, stop, [&](auto done) {
      auto counted = [&count, done](error_code failed, std::size_t bytes) mutable {
        count = bytes;
        done(failed);
      };
      const auto space = buffer_.prepare(65536);
      tls_ ? tls_->async_read_some(space, std::move(counted))
           : tcp_.async_read_some(space, std::move(counted));
    });
    buffer_.commit(count);
    return error;
  }

  boost::beast::flat_buffer& buffer() noexcept { return buffer_; }

  /// A kept connection on which something waits was closed by the server, or is out of step.
  bool quiet() {
    if (buffer_.size() != 0 || !tcp_.socket().is_open()) return false;
    char byte = 0;
    return ::recv(tcp_.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK);
  }

  Clock::time_point last_used{};

 private:
  boost::asio::io_context io_;
  boost::beast::tcp_stream tcp_;
  std::optional<boost::asio::ssl::stream<boost::beast::tcp_stream&>> tls_;
  boost::beast::flat_buffer buffer_;
};

}  // namespace kernelsearch::detail
