// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/mcp/tool.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("ToolCall: passes progress on, and says when it is not wanted any more") {
  std::stop_source source;
  std::string told;
  const ToolCall call(
      source.get_token(), [&told](double done, std::optional<double> total, std::string_view text) {
        told += std::to_string(static_cast<int>(done)) + "/" +
                (total ? std::to_string(static_cast<int>(*total)) : "?") + " " + std::string(text) + ";";
      });
  call.progress(1);
  call.progress(2, 4, "half");
  CHECK(told == "1/? ;2/4 half;");
  CHECK(!call.stop().stop_requested());
  source.request_stop();
  CHECK(call.stop().stop_requested());
  const ToolCall nobody;
  nobody.progress(1);
  CHECK(!nobody.stop().stop_possible());
}

TEST_CASE("ToolReply: a failed one says so") {
  const ToolReply reply = ToolReply::failed("no such run");
  CHECK(reply.error);
  CHECK(reply.text == "no such run");
  CHECK(reply.structured.empty());
}
