// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llm/url.hpp"

#include <doctest/doctest.h>

#include "problem/percent_decoded.hpp"

using namespace kernelsearch::detail;

TEST_CASE("parse_url: what it takes apart") {
  const auto url = parse_url("HTTPS://me:p%40ss@api.test:8443/v1/");
  REQUIRE(url);
  CHECK(url->secure);
  CHECK(percent_decoded(url->userinfo) == "me:p@ss");
  CHECK(url->host == "api.test");
  CHECK(url->port == 8443);
  CHECK(url->path == "/v1");
  CHECK(url->authority() == "api.test:8443");
  CHECK(parse_url("http://h")->authority() == "h");
  CHECK(parse_url("http://h")->host_and_port() == "h:80");
  CHECK(parse_url("https://[::1]:1/x")->authority() == "[::1]:1");
  CHECK(parse_url("https://[::1]")->host == "::1");
  for (const char* none :
       {"", "h", "ftp://h", "http://", "http:///x", "http://h:0", "http://h:65536", "http://h:", "http://h:x",
        "http://h/a b", "http://h/a\r\nX: y", "http://h?x", "http://h#x", "http://[::1", "http://[::1]x"})
    CHECK_FALSE(parse_url(none));
}

TEST_CASE("base64") {
  CHECK(base64("") == "");
  CHECK(base64("u") == "dQ==");
  CHECK(base64("us") == "dXM=");
  CHECK(base64("user:pass") == "dXNlcjpwYXNz");
  CHECK(base64("\xFF\xFE\xFD") == "//79");
}
