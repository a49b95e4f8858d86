// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/redactor.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

using namespace kernelsearch;

TEST_CASE("Redactor: what it was told goes, longest first, wherever it stands") {
  Redactor redact;
  redact.add("abcdef");
  redact.add("abcdef-more");
  redact.add("none");  // too short to be a secret
  CHECK(redact("x abcdef-more y abcdefabcdef none") == "x [redacted] y [redacted][redacted] none");
  CHECK(redact("") == "");
}

TEST_CASE("Redactor: what looks like a key goes") {
  const Redactor redact;
  CHECK(redact("key sk-ant-api03-AAAAbbbbCCCCdddd_eeee.") == "key [redacted]");
  CHECK(redact("Authorization: Bearer abcdefgh12345678") == "Authorization: Bearer [redacted]");
  CHECK(redact("authorization: basic dXNlcjpwYXNz") == "authorization: basic [redacted]");
  CHECK(redact("x-api-key: 0123456789abcdef\r\n") == "x-api-key: [redacted]\r\n");
  CHECK(redact(R"({"api_key": "0123456789abcdef"})") == R"({"api_key": "[redacted]"})");
  CHECK(redact("AIzaSyA0123456789012345678901234567890") == "[redacted]");
}

TEST_CASE("Redactor: code and prose stay as they are") {
  const Redactor redact;
  for (const char* text :
       {"float sk = ask-thing; // task-based-programming-is-fine", "sk-short", "the bearer of it",
        "int api_key_count = 3;", "x-api-key", "risk-averse-and-long-enough-words"})
    CHECK(redact(text) == text);
}

TEST_CASE("Redactor: the environment's keys") {
  ::setenv("KERNELSEARCH_TEST_API_KEY", "quite-secret-value", 1);
  Redactor redact;
  redact.add_environment();
  CHECK(redact("a quite-secret-value b") == "a [redacted] b");
  ::unsetenv("KERNELSEARCH_TEST_API_KEY");
}
