// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "url.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace kernelsearch::detail {
namespace {

bool starts_without_case(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

}  // namespace

std::string Url::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : '[' + host + ']';
  return port == (secure ? 443 : 80) ? name : name + ':' + std::to_string(port);
}

std::string Url::host_and_port() const {
  return (host.find(':') == std::string::npos ? host : '[' + host + ']') + ':' + std::to_string(port);
}

std::optional<Url> parse_url(std::string_view text) {
  Url url;
  if (starts_without_case(text, "https://"))
    url.secure = true;
  else if (!starts_without_case(text, "http://"))
    return std::nullopt;
  text.remove_prefix(url.secure ? 8 : 7);
  for (const char c : text)
    if (static_cast<unsigned char>(c) <= ' ' || c == 127 || c == '?' || c == '#' || c == '\\' || c == '"')
      return std::nullopt;
  const std::size_t slash = std::min(text.find('/'), text.size());
  std::string_view authority = text.substr(0, slash);
  url.path = text.substr(slash);
  while (!url.path.empty() && url.path.back() == '/') url.path.pop_back();
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    url.userinfo = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  std::string_view port;
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    url.host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
    if (!port.empty() && port.front() != ':') return std::nullopt;
    if (!port.empty()) port.remove_prefix(1);
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    url.host = authority.substr(0, colon);
    if (colon < authority.size()) port = authority.substr(colon + 1);
    if (port.empty() && colon < authority.size()) return std::nullopt;
  }
  if (url.host.empty()) return std::nullopt;
  url.port = url.secure ? 443 : 80;
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (error != std::errc{} || end != port.data() + port.size() || url.port == 0) return std::nullopt;
  }
  return url;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      result += i + k <= bytes.size() ? digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return result;
}

}  // namespace kernelsearch::detail
