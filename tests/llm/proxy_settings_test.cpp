// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/proxy_settings.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

using namespace kernelsearch;

TEST_CASE("ProxySettings: by scheme, but for the exceptions") {
  const ProxySettings settings{"http://plain:1", "http://secure:2",
                               "localhost, .example.org,10.0.0.7:8000 *.lan,[::1]"};
  CHECK(settings.for_target(true, "api.test", 443) == "http://secure:2");
  CHECK(settings.for_target(false, "api.test", 80) == "http://plain:1");
  CHECK(settings.for_target(false, "LOCALHOST", 80).empty());
  CHECK(settings.for_target(true, "a.b.example.org", 443).empty());
  CHECK(settings.for_target(true, "example.org", 443).empty());
  CHECK_FALSE(settings.for_target(true, "badexample.org", 443).empty());
  CHECK(settings.for_target(false, "10.0.0.7", 8000).empty());
  CHECK_FALSE(settings.for_target(false, "10.0.0.7", 8001).empty());
  CHECK(settings.for_target(false, "box.lan", 80).empty());
  CHECK(settings.for_target(false, "::1", 80).empty());
  CHECK(ProxySettings{"http://p", "http://p", "*"}.for_target(true, "any", 443).empty());
}

TEST_CASE("ProxySettings: of the environment, lower case first") {
  for (const char* name : {"https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY",
                           "no_proxy", "NO_PROXY"})
    ::unsetenv(name);
  CHECK(proxies_of_environment().https.empty());
  ::setenv("ALL_PROXY", "http://all:1", 1);
  ::setenv("HTTPS_PROXY", "http://upper:1", 1);
  ::setenv("https_proxy", "http://lower:1", 1);
  ::setenv("NO_PROXY", "localhost", 1);
  CHECK(proxies_of_environment().https == "http://lower:1");
  CHECK(proxies_of_environment().http == "http://all:1");
  CHECK(proxies_of_environment().exceptions == "localhost");
  ::setenv("HTTP_PROXY", "http://evil:1", 1);
  ::setenv("REQUEST_METHOD", "GET", 1);
  CHECK(proxies_of_environment().http == "http://all:1");
  for (const char* name :
       {"ALL_PROXY", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "HTTP_PROXY", "REQUEST_METHOD"})
    ::unsetenv(name);
}
