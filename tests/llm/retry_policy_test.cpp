// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/retry_policy.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace kernelsearch;

namespace {

FailedAttempt failed(ChatFailure failure, std::uint32_t attempt = 1) {
  FailedAttempt result;
  result.failure = failure;
  result.attempt = attempt;
  return result;
}

}  // namespace

TEST_CASE("retry_wait: what may pass is tried again, the rest is not") {
  Rng rng(1);
  for (const ChatFailure passing : {ChatFailure::network, ChatFailure::timed_out, ChatFailure::server,
                                    ChatFailure::rate_limited, ChatFailure::malformed})
    CHECK(retry_wait(failed(passing), {}, rng));
  for (const ChatFailure lasting :
       {ChatFailure::configuration, ChatFailure::authentication, ChatFailure::quota, ChatFailure::budget,
        ChatFailure::cancelled, ChatFailure::not_recorded})
    CHECK_FALSE(retry_wait(failed(lasting), {}, rng));
  CHECK_FALSE(retry_wait(failed(ChatFailure::server, 5), {}, rng));
  CHECK_FALSE(retry_wait(failed(ChatFailure::malformed, 2), {}, rng));
}

TEST_CASE("retry_wait: full jitter below a bound that doubles up to the longest") {
  Rng rng(2);
  const RetryOptions options{.attempts = 100, .first_seconds = 1, .longest_seconds = 8};
  double most[8] = {}, least = 1;
  for (int i = 0; i < 3000; ++i)
    for (std::uint32_t attempt = 1; attempt <= 8; ++attempt) {
      const double wait = *retry_wait(failed(ChatFailure::server, attempt), options, rng);
      most[attempt - 1] = std::max(most[attempt - 1], wait);
      least = std::min(least, wait);
    }
  const double bounds[8] = {1, 2, 4, 8, 8, 8, 8, 8};
  for (int i = 0; i < 8; ++i) {
    CHECK(most[i] <= bounds[i]);
    CHECK(most[i] > 0.98 * bounds[i]);
  }
  CHECK(least < 0.01);
  CHECK(*retry_wait(failed(ChatFailure::server, 90), options, rng) <= 8);
  Rng a(3), b(3);
  CHECK(retry_wait(failed(ChatFailure::server), {}, a) == retry_wait(failed(ChatFailure::server), {}, b));
}

TEST_CASE("retry_wait: what the server asks for is waited, and no less") {
  Rng rng(4);
  FailedAttempt one = failed(ChatFailure::rate_limited);
  one.retry_after = " 20 ";
  for (int i = 0; i < 100; ++i) {
    const double wait = *retry_wait(one, {}, rng);
    CHECK(wait >= 20);
    CHECK(wait <= 22.1);
  }
  one.retry_after = "Sun, 06 Nov 1994 08:49:37 GMT";
  one.now = 784111777 - 30;
  CHECK(*retry_wait(one, {}, rng) >= 30);
  one.now = 784111777 + 30;  // past: at once
  CHECK(*retry_wait(one, {}, rng) <= 0.1);
  one.retry_after = "301";
  CHECK_FALSE(retry_wait(one, {}, rng));
  one.retry_after = "soon";
  CHECK(*retry_wait(one, {}, rng) <= 1);
  one.retry_after = "nan";
  CHECK(*retry_wait(one, {}, rng) <= 1);
  one.retry_after = "-5";
  CHECK(*retry_wait(one, {}, rng) <= 0.1);
  one.retry_after_ms = "1500";
  CHECK(*retry_wait(one, {}, rng) >= 1.5);
}

TEST_CASE("failure_of_status") {
  CHECK(failure_of_status(400) == ChatFailure::configuration);
  CHECK(failure_of_status(404) == ChatFailure::configuration);
  CHECK(failure_of_status(413) == ChatFailure::configuration);
  CHECK(failure_of_status(401) == ChatFailure::authentication);
  CHECK(failure_of_status(403) == ChatFailure::authentication);
  CHECK(failure_of_status(402) == ChatFailure::quota);
  CHECK(failure_of_status(408) == ChatFailure::timed_out);
  CHECK(failure_of_status(409) == ChatFailure::server);
  CHECK(failure_of_status(429) == ChatFailure::rate_limited);
  CHECK(failure_of_status(500) == ChatFailure::server);
  CHECK(failure_of_status(529) == ChatFailure::server);
}

TEST_CASE("parse_http_date: the three formats of RFC 9110 and nothing else") {
  CHECK(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT") == 784111777);
  CHECK(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT") == 784111777);
  CHECK(parse_http_date("Sun Nov  6 08:49:37 1994") == 784111777);
  CHECK(parse_http_date("Thu, 29 Feb 2024 23:59:60 GMT") == 1709251200);
  CHECK(parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT") == 0);
  for (const char* none : {"", "120", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nob 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "a b c d e f"})
    CHECK_FALSE(parse_http_date(none));
}
