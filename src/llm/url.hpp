// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kernelsearch::detail {

/// `scheme://[userinfo@]host[:port][/path]`, taken apart.
struct Url {
  bool secure = false;
  std::string userinfo;  ///< still percent-encoded
  std::string host;      ///< without the brackets of an IPv6 address
  std::uint16_t port = 0;
  std::string path;  ///< without a slash at its end; empty for the root

  /// The host as a `Host` header has it: with brackets and a port that is not the scheme's own.
  [[nodiscard]] std::string authority() const;
  /// With the port always, as CONNECT wants it.
  [[nodiscard]] std::string host_and_port() const;
};

/// Nothing for text that is not such a URL, or has a query, a fragment, blanks or control characters.
[[nodiscard]] std::optional<Url> parse_url(std::string_view text);

[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace kernelsearch::detail
