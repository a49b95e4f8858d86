// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/chat_model.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

namespace {

struct Counting {
  int calls = 0;
  ChatResult chat(const ChatRequest& request, std::stop_token) {
    ++calls;
    ChatResult result;
    result.reply.emplace().text = request.role;
    return result;
  }
};
static_assert(ChatModel<Counting>);

struct NoStop {
  ChatResult chat(const ChatRequest&);
};
static_assert(!ChatModel<NoStop>);

struct NoResult {
  std::string chat(const ChatRequest&, std::stop_token);
};
static_assert(!ChatModel<NoResult>);

}  // namespace

TEST_CASE("AnyChatModel: copies share the model") {
  const auto counting = std::make_shared<Counting>();
  const AnyChatModel first(counting);
  const AnyChatModel second = first;
  ChatRequest request;
  request.role = "planner";
  CHECK(first.chat(request).reply->text == "planner");
  CHECK(second.chat(request).reply->text == "planner");
  CHECK(counting->calls == 2);
  CHECK(second);
}

TEST_CASE("AnyChatModel: none says so") {
  const AnyChatModel none;
  CHECK_FALSE(none);
  CHECK(none.chat({}).error.failure == ChatFailure::configuration);
}
