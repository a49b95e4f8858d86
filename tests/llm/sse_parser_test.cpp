// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/sse_parser.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

Events events_of(const std::vector<std::string>& pieces, SseParser& parser) {
  Events events;
  for (const std::string& piece : pieces)
    parser.feed(piece, [&](std::string_view type, std::string_view data) {
      events.emplace_back(type, data);
      return true;
    });
  return events;
}

Events events_of(const std::string& text) {
  SseParser parser;
  return events_of(std::vector<std::string>{text}, parser);
}

}  // namespace

TEST_CASE("SseParser: fields, comments and the three line ends") {
  CHECK(events_of("data: one\n\n") == Events{{"", "one"}});
  CHECK(events_of("data: one\r\n\r\ndata:two\r\rdata: three\n\n") ==
        Events{{"", "one"}, {"", "two"}, {"", "three"}});
  CHECK(events_of("event: error\ndata: a\ndata: b\n\n") == Events{{"error", "a\nb"}});
  CHECK(events_of(": ping\n\ndata\n\n") == Events{{"", ""}});
  CHECK(events_of("\xEF\xBB\xBF"
                  "data: bom\n\n") == Events{{"", "bom"}});
  CHECK(events_of("data:  two blanks\nunknown: x\n\n") == Events{{"", " two blanks"}});
  CHECK(events_of("event: lost\n\ndata: kept\n\n") == Events{{"", "kept"}});  // no data, no event
  CHECK(events_of("data: never ended\n").empty());
}

TEST_CASE("SseParser: an unfinished event is known, an id kept") {
  SseParser parser;
  events_of({"id: 7\ndata: a\n\nda"}, parser);
  CHECK(parser.unfinished());
  CHECK(parser.last_id() == "7");
  events_of({"ta: b\n\n"}, parser);
  CHECK_FALSE(parser.unfinished());
}

TEST_CASE("SseParser: stops when told, and at an event that is too long") {
  SseParser parser;
  int count = 0;
  const auto once = [&](std::string_view, std::string_view) { return ++count < 1; };
  CHECK_FALSE(parser.feed("data: 1\n\ndata: 2\n\n", once));
  CHECK_FALSE(parser.feed("data: 3\n\n", once));
  CHECK(count == 1);
  CHECK_FALSE(parser.too_long());
  SseParser small(16);
  const auto any = [](std::string_view, std::string_view) { return true; };
  CHECK(small.feed("data: 123456\n\n", any));
  CHECK_FALSE(small.feed("data: 1234567890123456789", any));
  CHECK(small.too_long());
  SseParser lines(16);
  CHECK_FALSE(lines.feed("data: 12345\ndata: 12345\ndata: 12345\ndata: 12345\n", any));
}

TEST_CASE("SseParser: where the bytes are cut changes nothing") {
  Rng rng(20);
  const std::vector<std::string> parts = {"data: ", "data:", "event: x", "id: 1", ":", "\n",
                                          "\r",     "\r\n",  "\n\n",     "text",  " ", "\xEF\xBB\xBF"};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::uint64_t i = rng.below(30); i > 0; --i) text += parts[rng.below(parts.size())];
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + rng.below(5);
      pieces.push_back(text.substr(at, size));
      at += size;
    }
    CAPTURE(text);
    SseParser parser;
    CHECK(events_of(pieces, parser) == events_of(text));
  }
}
