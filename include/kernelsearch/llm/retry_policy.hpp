// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/llm/chat.hpp"

namespace kernelsearch {

/// Exponential waiting with full jitter (Brooker, "Exponential Backoff and Jitter", AWS, 2015).
struct RetryOptions {
  std::uint32_t attempts = 5;  ///< at most, the first included
  double first_seconds = 1.0;  ///< the upper end of the first wait
  double longest_seconds = 60.0;
  double patience_seconds = 300.0;  ///< a server that asks for a longer wait is not waited for
};

/// What is known of an attempt that brought no reply.
struct FailedAttempt {
  ChatFailure failure = ChatFailure::server;
  int http_status = 0;              ///< 0: there was no answer
  std::string_view retry_after;     ///< that header: seconds or an HTTP date; empty: none
  std::string_view retry_after_ms;  ///< milliseconds, as some servers send them
  std::uint32_t attempt = 1;        ///< how many there were
  std::int64_t now = 0;             ///< seconds since 1970, for dates
};

/// Nothing: give up. Else the seconds to wait before the next attempt. Tried again is what may pass: no
/// connection, time limits, broken replies (once), 408, 409, 429 without a quota's code, 5xx (529 too).
[[nodiscard]] std::optional<double> retry_wait(const FailedAttempt& failed, const RetryOptions& options,
                                               Rng& rng);

/// What a status means: 401 and 403 `authentication`, 402 `quota`, 429 `rate_limited`, 408 and 504
/// `timed_out`, 409 and other 5xx `server`, the rest `configuration`.
[[nodiscard]] ChatFailure failure_of_status(int http_status) noexcept;

/// The three formats of RFC 9110, 5.6.7 as seconds since 1970; nothing for other text.
[[nodiscard]] std::optional<std::int64_t> parse_http_date(std::string_view text);

}  // namespace kernelsearch
