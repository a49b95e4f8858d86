// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kernelsearch {

/// Proxies by the scheme of the target, as the usual environment variables give them.
struct ProxySettings {
  std::string http, https;  ///< `http://[user:password@]host[:port]`; empty: none
  std::string exceptions;   ///< hosts without one: `.example.org,localhost,10.0.0.7:8000`, or `*`

  /// The proxy for that target; empty: none.
  [[nodiscard]] const std::string& for_target(bool secure, std::string_view host, std::uint16_t port) const;
};

/// From HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, in lower case first.
[[nodiscard]] ProxySettings proxies_of_environment();

}  // namespace kernelsearch
