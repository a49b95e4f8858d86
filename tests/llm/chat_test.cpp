// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/chat.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("chat: every name of an enumeration is there and in order") {
  CHECK(to_string(Speaker::system) == "system");
  CHECK(to_string(Speaker::assistant) == "assistant");
  CHECK(to_string(FinishReason::stop) == "stop");
  CHECK(to_string(FinishReason::other) == "other");
  CHECK(to_string(ChatFailure::configuration) == "configuration");
  CHECK(to_string(ChatFailure::budget) == "budget");
  CHECK(to_string(ChatFailure::not_recorded) == "not_recorded");
}

TEST_CASE("chat: a result without a reply is false and carries its error") {
  const ChatResult failed = ChatResult::failed(ChatFailure::network, "gone");
  CHECK_FALSE(failed);
  CHECK(failed.error.failure == ChatFailure::network);
  CHECK(failed.error.text == "gone");
  ChatResult fine;
  fine.reply.emplace();
  CHECK(fine);
}
