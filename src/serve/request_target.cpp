// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "request_target.hpp"

#include <algorithm>

#include "problem/percent_decoded.hpp"

namespace kernelsearch::detail {
namespace {

/// As a form writes it, with `+` for a blank.
std::string decoded(std::string_view text) {
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '+', ' ');
  return percent_decoded(plain);
}

}  // namespace

RequestTarget parse_target(std::string_view target) {
  RequestTarget parsed;
  const std::size_t mark = target.find('?');
  parsed.path = decoded(target.substr(0, mark));
  std::string_view rest = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  while (!rest.empty()) {
    const std::size_t end = rest.find('&');
    const std::string_view one = rest.substr(0, end);
    const std::size_t equals = one.find('=');
    if (equals != std::string_view::npos)
      parsed.query.emplace(decoded(one.substr(0, equals)), decoded(one.substr(equals + 1)));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return parsed;
}

bool equal_secrets(std::string_view a, std::string_view b) noexcept {
  unsigned differ = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    differ |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  return differ == 0;
}

bool is_own_host(std::string_view host, std::uint16_t port) {
  const std::string behind = ":" + std::to_string(port);
  return host == "127.0.0.1" + behind || host == "localhost" + behind;
}

}  // namespace kernelsearch::detail
