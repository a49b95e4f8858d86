// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

/// An HTTP server on the loopback interface that answers as a test tells it, faults included. Written on
/// sockets, not on the library that the client uses, so that a misreading of HTTP does not cancel out.
class LoopbackServer {
 public:
  struct Request {
    std::string method, target, body;
    std::map<std::string, std::string> headers;  ///< names in lower case
    int connection = 0;                          ///< counted from 0
    int index = 0;                               ///< of all requests, from 0
  };

  /// The other end of one connection.
  class Peer {
   public:
    Peer(int socket, SSL* tls, const std::atomic<bool>& ending)
        : socket_(socket), tls_(tls), ending_(ending) {}

    void send(std::string_view bytes) {
      while (open_ && !bytes.empty()) {
        const auto most = static_cast<int>(std::min<std::size_t>(bytes.size(), 1 << 20));
        const auto sent = tls_ ? SSL_write(tls_, bytes.data(), most)
                               : ::send(socket_, bytes.data(), static_cast<std::size_t>(most), MSG_NOSIGNAL);
        if (sent <= 0) open_ = false;
        if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
      }
    }
    /// A whole answer with its length; `headers` are lines that end in CR LF.
    void answer(int status, std::string_view body, const std::string& headers = "") {
      send("HTTP/1.1 " + std::to_string(status) +
           " Said\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n" + headers + "\r\n" + std::string(body));
    }
    void begin_stream() {
      send(
          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: "
          "chunked\r\n\r\n");
    }
    void chunk(std::string_view bytes) {
      char size[32];
      std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
      send(size + std::string(bytes) + "\r\n");
    }
    void event(std::string_view data) { chunk("data: " + std::string(data) + "\n\n"); }
    void end_stream() { send("0\r\n\r\n"); }
    /// Waits, but not beyond the life of the server.
    void pause(double seconds) const {
      const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
      while (!ending_ && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    void close() { open_ = false; }
    /// Ends the connection with a reset instead of an orderly end.
    void reset() {
      const linger now{1, 0};
      ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
      open_ = false;
    }
    /// Carries bytes both ways between this connection and a port of this machine, as a proxy does.
    void tunnel_to(std::uint16_t port) {
      const int other = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in to = address(port);
      if (::connect(other, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) {
        pollfd ends[2] = {{socket_, POLLIN, 0}, {other, POLLIN, 0}};
        std::vector<char> bytes(65536);
        for (bool both = true; both && !ending_;) {
          if (::poll(ends, 2, 20) <= 0) continue;
          for (int i = 0; i < 2 && both; ++i) {
            if ((ends[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
            const ssize_t count = ::recv(ends[i].fd, bytes.data(), bytes.size(), 0);
            both = count > 0 && ::send(ends[1 - i].fd, bytes.data(), static_cast<std::size_t>(count),
                                       MSG_NOSIGNAL) == count;
          }
        }
      }
      ::close(other);
      open_ = false;
    }

    [[nodiscard]] bool open() const noexcept { return open_ && !ending_; }
    /// The next request; false once there is none.
    bool read(Request& request) {
      std::size_t end = std::string::npos;
      while ((end = unread_.find("\r\n\r\n")) == std::string::npos)
        if (!more()) return false;
      std::string head = unread_.substr(0, end + 2);
      unread_.erase(0, end + 4);
      request = {};
      std::size_t line_end = head.find("\r\n");
      const std::string first = head.substr(0, line_end);
      const std::size_t space = first.find(' ');
      request.method = first.substr(0, space);
      request.target = first.substr(space + 1, first.rfind(' ') - space - 1);
      for (std::size_t at = line_end + 2; at < head.size(); at = line_end + 2) {
        line_end = head.find("\r\n", at);
        const std::string line = head.substr(at, line_end - at);
        const std::size_t colon = line.find(": ");
        std::string name = line.substr(0, colon);
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return std::tolower(c); });
        request.headers[name] = line.substr(colon + 2);
      }
      const auto length = request.headers.find("content-length");
      const std::size_t size = length == request.headers.end() ? 0 : std::stoul(length->second);
      while (unread_.size() < size)
        if (!more()) return false;
      request.body = unread_.substr(0, size);
      unread_.erase(0, size);
      return true;
    }

   private:
    bool more() {
      char bytes[16384];
      for (;;) {
        if (ending_ || !open_) return false;
        pollfd ready{socket_, POLLIN, 0};
        if ((tls_ == nullptr || SSL_pending(tls_) == 0) && ::poll(&ready, 1, 20) == 0) continue;
        const auto count =
            tls_ ? SSL_read(tls_, bytes, sizeof bytes) : ::recv(socket_, bytes, sizeof bytes, 0);
        if (count <= 0) return false;
        unread_.append(bytes, static_cast<std::size_t>(count));
        return true;
      }
    }

    int socket_;
    SSL* tls_;
    const std::atomic<bool>& ending_;
    bool open_ = true;
    std::string unread_;
  };

  using Handler = std::function<void(const Request&, Peer&)>;

  /// Speaks TLS where a context is given. The handler is called on a thread of each connection.
  explicit LoopbackServer(Handler handler, std::shared_ptr<SSL_CTX> tls = nullptr)
      : handler_(std::move(handler)), tls_(std::move(tls)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in here = address(0);
    socklen_t size = sizeof here;
    if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&here), size) != 0 ||
        ::listen(listener_, 128) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&here), &size) != 0)
      throw std::runtime_error("no loopback server");
    port_ = ntohs(here.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  ~LoopbackServer() {
    ending_ = true;
    acceptor_.join();
    for (std::thread& one : threads_) one.join();
    ::close(listener_);
  }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::string url() const {
    return (tls_ ? "https://localhost:" : "http://127.0.0.1:") + std::to_string(port_);
  }
  [[nodiscard]] std::vector<Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  /// The most requests that were being answered at the same time.
  [[nodiscard]] int most_at_once() const noexcept { return most_; }

 private:
  static sockaddr_in address(std::uint16_t port) {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    here.sin_port = htons(port);
    return here;
  }

  void accept_all() {
    for (int count = 0; !ending_;) {
      pollfd ready{listener_, POLLIN, 0};
      if (::poll(&ready, 1, 20) <= 0) continue;
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) continue;
      threads_.emplace_back([this, socket, number = count++] { serve(socket, number); });
    }
  }

  void serve(int socket, int number) {
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::unique_ptr<SSL, decltype(&SSL_free)> tls(tls_ ? SSL_new(tls_.get()) : nullptr, &SSL_free);
    bool fine = true;
    if (tls) {
      SSL_set_fd(tls.get(), socket);
      fine = SSL_accept(tls.get()) == 1;
    }
    Peer peer(socket, tls.get(), ending_);
    Request request;
    while (fine && peer.open() && peer.read(request)) {
      request.connection = number;
      {
        const std::lock_guard lock(mutex_);
        request.index = static_cast<int>(requests_.size());
        requests_.push_back(request);
      }
      const int now = ++active_;
      for (int most = most_; now > most && !most_.compare_exchange_weak(most, now);) {
      }
      handler_(request, peer);
      --active_;
    }
    ::close(socket);
  }

  Handler handler_;
  std::shared_ptr<SSL_CTX> tls_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> ending_{false};
  std::atomic<int> active_{0}, most_{0};
  mutable std::mutex mutex_;
  std::vector<Request> requests_;
  std::thread acceptor_;
  std::list<std::thread> threads_;
};
