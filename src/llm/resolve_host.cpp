// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "resolve_host.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <boost/asio/ip/address.hpp>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

namespace kernelsearch::detail {
namespace {

using boost::asio::ip::tcp;

struct Lookup {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool done = false;
  std::vector<tcp::endpoint> found;
  std::string why;
};

void look_up(const std::string& host, std::uint16_t port, Lookup& lookup) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  int failed = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  std::vector<tcp::endpoint> found;
  for (const addrinfo* one = failed ? nullptr : list; one != nullptr; one = one->ai_next) {
    tcp::endpoint endpoint;
    if (one->ai_addrlen > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), one->ai_addr, one->ai_addrlen);
    endpoint.resize(one->ai_addrlen);
    endpoint.port(port);
    found.push_back(endpoint);
  }
  if (list != nullptr) ::freeaddrinfo(list);
  // This name means this machine, also where no file says so, as in a small container (RFC 6761, section
  // 6.3).
  if (found.empty() && host == "localhost") {
    failed = 0;
    found = {tcp::endpoint(boost::asio::ip::address_v4::loopback(), port),
             tcp::endpoint(boost::asio::ip::address_v6::loopback(), port)};
  }
  const std::lock_guard lock(lookup.mutex);
  lookup.found = std::move(found);
  if (failed != 0) lookup.why = ::gai_strerror(failed);
  lookup.done = true;
  lookup.changed.notify_all();
}

}  // namespace

std::vector<tcp::endpoint> resolve_host(const std::string& host, std::uint16_t port,
                                        std::chrono::steady_clock::time_point deadline,
                                        const std::stop_token& stop, std::string& why) {
  boost::system::error_code error;
  if (const auto address = boost::asio::ip::make_address(host, error); !error)
    return {tcp::endpoint(address, port)};
  // getaddrinfo cannot be interrupted, and an Asio resolver waits for it when its loop ends: a thread that
  // may outlive the call is what lets time limits and cancellation hold.
  const auto lookup = std::make_shared<Lookup>();
  std::thread([host, port, lookup] { look_up(host, port, *lookup); }).detach();
  std::unique_lock lock(lookup->mutex);
  if (!lookup->changed.wait_until(lock, stop, deadline, [&] { return lookup->done; })) return {};
  why = lookup->why.empty() && lookup->found.empty() ? "it has no address" : lookup->why;
  return lookup->found;
}

}  // namespace kernelsearch::detail
