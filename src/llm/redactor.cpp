// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/redactor.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "kernelsearch/core/impl/text.hpp"

namespace kernelsearch {
namespace {

constexpr std::string_view mark = "[redacted]";

bool is_token(char c) {
  return detail::in_word(c) || std::string_view("-.~+/=").find(c) != std::string_view::npos;
}

/// How keys begin, and how many characters follow at least.
struct Prefix {
  std::string_view text;
  std::size_t least;
};
constexpr std::array<Prefix, 7> prefixes{
    {{"sk-", 16}, {"sk_", 16}, {"AIza", 30}, {"ghp_", 30}, {"gsk_", 30}, {"hf_", 30}, {"xai-", 30}}};

bool same_letters(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(),
                    [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

/// Names of fields whose value is a key, followed by quotes, colons and blanks.
constexpr std::array<std::string_view, 5> fields{"x-api-key", "api_key", "api-key", "apikey",
                                                 "proxy-authorization"};

/// Where the key starts that a field or scheme at `at` announces; npos: none does.
std::size_t announced(std::string_view text, std::size_t at) {
  for (const std::string_view scheme : {std::string_view("bearer "), std::string_view("basic ")})
    if (same_letters(text.substr(at, scheme.size()), scheme)) return at + scheme.size();
  for (const std::string_view field : fields) {
    if (!same_letters(text.substr(at, field.size()), field)) continue;
    std::size_t i = at + field.size();
    bool separated = false;
    while (i < text.size() &&
           (text[i] == '"' || text[i] == '\'' || text[i] == ' ' || text[i] == ':' || text[i] == '=')) {
      separated |= text[i] == ':' || text[i] == '=';
      ++i;
    }
    if (separated) return i;
  }
  return std::string_view::npos;
}

std::size_t token_end(std::string_view text, std::size_t from) {
  while (from < text.size() && is_token(text[from])) ++from;
  return from;
}

/// Where what looks like a key at `at` starts and ends; equal: nothing does.
std::pair<std::size_t, std::size_t> likely_key(std::string_view text, std::size_t at) {
  for (const Prefix& prefix : prefixes)
    if (text.substr(at, prefix.text.size()) == prefix.text) {
      const std::size_t end = token_end(text, at);
      if (end - at >= prefix.text.size() + prefix.least) return {at, end};
    }
  if (const std::size_t start = announced(text, at); start != std::string_view::npos) {
    const std::size_t end = token_end(text, start);
    if (end - start >= 8) return {start, end};
  }
  return {at, at};
}

}  // namespace

void Redactor::add(std::string secret) {
  if (secret.size() < 6 || std::find(secrets_.begin(), secrets_.end(), secret) != secrets_.end()) return;
  secrets_.push_back(std::move(secret));
  std::stable_sort(secrets_.begin(), secrets_.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

void Redactor::add_environment() {
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    for (const std::string_view end : {"KEY", "TOKEN", "SECRET", "PASSWORD"})
      if (name.size() >= end.size() && name.substr(name.size() - end.size()) == end)
        add(std::string(text.substr(equals + 1)));
  }
}

std::string Redactor::operator()(std::string text) const {
  for (const std::string& secret : secrets_)
    for (std::size_t at = text.find(secret); at != std::string::npos;
         at = text.find(secret, at + mark.size()))
      text.replace(at, secret.size(), mark);
  std::string result;
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    // A key starts a word: `task-...` holds no `sk-`.
    if (at > 0 && detail::is_alphanumeric(text[at - 1])) continue;
    const auto [start, end] = likely_key(text, at);
    if (start == end) continue;
    result.append(text, copied, start - copied).append(mark);
    copied = end;
    at = end - 1;
  }
  if (copied == 0) return text;
  return result.append(text, copied);
}

}  // namespace kernelsearch
