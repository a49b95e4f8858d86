// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libFuzzer: whatever a server sends, the event parser finds the same events wherever the bytes are cut, and
// replies, URLs, dates and model files are read or refused without a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/llm/model_file.hpp"
#include "kernelsearch/llm/redactor.hpp"
#include "kernelsearch/llm/retry_policy.hpp"
#include "kernelsearch/llm/sse_parser.hpp"
#include "llm/provider_reply.hpp"
#include "llm/url.hpp"

using namespace kernelsearch;

namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

Events events_of(std::string_view text, std::size_t piece) {
  Events events;
  SseParser parser;
  for (std::size_t at = 0; at < text.size(); at += piece)
    parser.feed(text.substr(at, piece), [&](std::string_view type, std::string_view data) {
      events.emplace_back(type, data);
      return true;
    });
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Events events = events_of(text, text.size() + 1);
  if (events_of(text, 1 + data[0] % 16) != events) std::abort();
  for (const Provider provider : {Provider::openai, Provider::anthropic}) {
    (void)detail::read_reply(provider, data[0] % 2 ? 200 : 429, text);
    detail::ReplyStream stream(provider);
    for (const auto& [type, one] : events)
      if (!stream.event(type, one)) break;
  }
  if (const auto url = detail::parse_url(text))
    if (const auto again =
            detail::parse_url((url->secure ? "https://" : "http://") + url->authority() + url->path);
        !again || again->host != url->host || again->port != url->port)
      std::abort();
  (void)parse_http_date(text);
  Redactor redactor;
  redactor.add("abcdef");
  const std::string once = redactor(std::string(text));
  if (once.find("abcdef") != std::string::npos && text.find("abcdef") == std::string_view::npos) std::abort();
  try {
    (void)parse_model_file(text);
  } catch (const ConfigError&) {
  }
  return 0;
}
