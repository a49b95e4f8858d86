// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/proxy_settings.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace kernelsearch {
namespace {

std::string variable(const char* lower, const char* upper) {
  for (const char* name : {lower, upper})
    if (const char* value = name ? std::getenv(name) : nullptr; value != nullptr && *value != '\0')
      return value;
  return {};
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// One item of NO_PROXY: a host with all below it, perhaps with a port.
bool excepts(std::string_view item, const std::string& host, std::uint16_t port) {
  if (item == "*") return true;
  std::string name = lower(item);
  const std::size_t colon = name.rfind(':');
  // `::1` and `[::1]` are addresses, not ports.
  if (colon != std::string::npos && (name.find(':') == colon || name[colon - 1] == ']')) {
    if (name.substr(colon + 1) != std::to_string(port)) return false;
    name.resize(colon);
  }
  if (name.size() > 1 && name.front() == '[' && name.back() == ']') name = name.substr(1, name.size() - 2);
  if (name.substr(0, 2) == "*.") name.erase(0, 2);
  if (!name.empty() && name.front() == '.') name.erase(0, 1);
  if (name.empty()) return false;
  if (host == name) return true;
  return host.size() > name.size() && host.compare(host.size() - name.size(), name.size(), name) == 0 &&
         host[host.size() - name.size() - 1] == '.';
}

}  // namespace

const std::string& ProxySettings::for_target(bool secure, std::string_view host, std::uint16_t port) const {
  static const std::string none;
  const std::string name = lower(host);
  for (std::size_t i = 0; i < exceptions.size();) {
    const std::size_t end = std::min(exceptions.find_first_of(", ", i), exceptions.size());
    if (end > i && excepts(std::string_view(exceptions).substr(i, end - i), name, port)) return none;
    i = end + 1;
  }
  return secure ? https : http;
}

ProxySettings proxies_of_environment() {
  ProxySettings settings;
  const std::string all = variable("all_proxy", "ALL_PROXY");
  settings.https = variable("https_proxy", "HTTPS_PROXY");
  // A CGI program gets HTTP_PROXY from a request's `Proxy:` header (CVE-2016-5385).
  settings.http = variable("http_proxy", std::getenv("REQUEST_METHOD") ? nullptr : "HTTP_PROXY");
  if (settings.https.empty()) settings.https = all;
  if (settings.http.empty()) settings.http = all;
  settings.exceptions = variable("no_proxy", "NO_PROXY");
  return settings;
}

}  // namespace kernelsearch
