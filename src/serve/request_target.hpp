// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace kernelsearch::detail {

/// The target of a request, taken apart: `/api/run?id=3&token=x`.
struct RequestTarget {
  std::string path;
  std::map<std::string, std::string> query;  ///< the first of equal names

  [[nodiscard]] std::string value(const std::string& name) const {
    const auto found = query.find(name);
    return found == query.end() ? std::string() : found->second;
  }
};

/// With `%41` and `+` as what they stand for; what is malformed stays as it is.
[[nodiscard]] RequestTarget parse_target(std::string_view target);

/// Whether two texts are equal, in a time that says nothing of where they differ.
[[nodiscard]] bool equal_secrets(std::string_view a, std::string_view b) noexcept;

/// Whether `host`, as a browser sends it, is this server's own address and not a name that somebody has
/// pointed at it.
[[nodiscard]] bool is_own_host(std::string_view host, std::uint16_t port);

}  // namespace kernelsearch::detail
