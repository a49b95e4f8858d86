// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/retry_policy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "kernelsearch/core/impl/text.hpp"

namespace kernelsearch {
namespace {

bool may_pass(const FailedAttempt& failed) {
  switch (failed.failure) {
    case ChatFailure::network:
    case ChatFailure::timed_out:
    case ChatFailure::malformed:
    case ChatFailure::server:
    case ChatFailure::rate_limited:
      return true;
    default:
      return false;
  }
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What the server asks for, never negative.
std::optional<double> asked_wait(const FailedAttempt& failed) {
  if (const auto ms = number<double>(detail::trimmed(failed.retry_after_ms)); ms && std::isfinite(*ms))
    return std::max(*ms, 0.0) * 1e-3;
  const std::string_view text = detail::trimmed(failed.retry_after);
  if (const auto seconds = number<double>(text); seconds && std::isfinite(*seconds))
    return std::max(*seconds, 0.0);
  if (const auto date = parse_http_date(text))
    return static_cast<double>(std::max<std::int64_t>(*date - failed.now, 0));
  return std::nullopt;
}

/// Days since 1970-01-01 (Hinnant, "chrono-compatible low-level date algorithms").
std::int64_t days_from_civil(std::int64_t year, unsigned month, unsigned day) {
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const auto year_of_era = static_cast<unsigned>(year - era * 400);
  const unsigned day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + static_cast<std::int64_t>(day_of_era) - 719468;
}

std::optional<unsigned> month_of(std::string_view name) {
  constexpr std::array<std::string_view, 12> names{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<unsigned>(found - names.begin()) + 1;
}

}  // namespace

std::optional<double> retry_wait(const FailedAttempt& failed, const RetryOptions& options, Rng& rng) {
  // A reply that cannot be read was paid for, and the next one is likely to be no better.
  const std::uint32_t most =
      failed.failure == ChatFailure::malformed ? std::min(options.attempts, 2u) : options.attempts;
  if (!may_pass(failed) || failed.attempt >= most) return std::nullopt;
  const double doubled = options.first_seconds * std::exp2(std::min(failed.attempt - 1, 60u));
  const double jitter = rng.uniform() * std::min(doubled, options.longest_seconds);
  if (const auto asked = asked_wait(failed)) {
    if (*asked > options.patience_seconds) return std::nullopt;
    // Not all at the same moment when it comes, and never before.
    return *asked + std::min(jitter, 0.1 * *asked + 0.1);
  }
  return jitter;
}

ChatFailure failure_of_status(int http_status) noexcept {
  switch (http_status) {
    case 401:
    case 403:
      return ChatFailure::authentication;
    case 402:
      return ChatFailure::quota;
    case 408:
    case 504:
      return ChatFailure::timed_out;
    case 409:
      return ChatFailure::server;
    case 429:
      return ChatFailure::rate_limited;
    default:
      return http_status >= 500 ? ChatFailure::server : ChatFailure::configuration;
  }
}

std::optional<std::int64_t> parse_http_date(std::string_view text) {
  // Words, without the day's name and the separators, which say nothing new.
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ' || text[i] == ',' || text[i] == '-') {
      ++i;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" ,-", i), text.size());
    words.push_back(text.substr(i, end - i));
    i = end;
  }
  if (words.size() < 5 || words.size() > 6) return std::nullopt;
  std::string_view day_text, month_text, year_text, time;
  if (words.size() == 5) {  // asctime: Sun Nov  6 08:49:37 1994
    month_text = words[1], day_text = words[2], time = words[3], year_text = words[4];
  } else {  // Sun, 06 Nov 1994 08:49:37 GMT, and Sunday, 06-Nov-94 08:49:37 GMT
    day_text = words[1], month_text = words[2], year_text = words[3], time = words[4];
    if (words[5] != "GMT") return std::nullopt;
  }
  const auto day = number<unsigned>(day_text);
  const auto month = month_of(month_text);
  auto year = number<std::int64_t>(year_text);
  if (!day || !month || !year || *day < 1 || *day > 31 || *year < 0 || *year > 9999) return std::nullopt;
  if (year_text.size() == 2) *year += *year < 70 ? 2000 : 1900;
  if (time.size() != 8 || time[2] != ':' || time[5] != ':') return std::nullopt;
  const auto hour = number<unsigned>(time.substr(0, 2)), minute = number<unsigned>(time.substr(3, 2)),
             second = number<unsigned>(time.substr(6, 2));
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return ((days_from_civil(*year, *month, *day) * 24 + *hour) * 60 + *minute) * 60 + *second;
}

}  // namespace kernelsearch
