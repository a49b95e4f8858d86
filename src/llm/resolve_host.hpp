// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelsearch::detail {

/// The addresses of a host. Empty: none, `why` says it; "" when stopped, or not in time.
[[nodiscard]] std::vector<boost::asio::ip::tcp::endpoint> resolve_host(
    const std::string& host, std::uint16_t port, std::chrono::steady_clock::time_point deadline,
    const std::stop_token& stop, std::string& why);

}  // namespace kernelsearch::detail
