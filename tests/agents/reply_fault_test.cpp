// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/reply_fault.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace kernelsearch;

TEST_CASE("reply fault: every one has a name of its own") {
  std::set<std::string_view> names;
  for (int i = 0; i < reply_fault_count; ++i) names.insert(to_string(static_cast<ReplyFault>(i)));
  CHECK(names.size() == reply_fault_count);
  CHECK(to_string(ReplyFault::missing_instruction) == "missing_instruction");
  CHECK(ReplyJudgement{}.ok());
  CHECK(!ReplyJudgement{ReplyFault::empty, ""}.ok());
}
