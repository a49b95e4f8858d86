// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/run_models.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace kernelsearch;

namespace {

Exchange exchange_with(ReplyFault fault, bool last = true) {
  Exchange exchange;
  exchange.role = "rewriter";
  exchange.judgement = {fault, fault == ReplyFault::none ? "" : "There is no block of code in the reply."};
  exchange.last = last;
  return exchange;
}

Exchange exchange_without(ChatFailure failure) {
  Exchange exchange = exchange_with(ReplyFault::none);
  exchange.error.emplace();
  exchange.error->failure = failure;
  exchange.error->text = "nobody is there";
  return exchange;
}

}  // namespace

TEST_CASE(
    "ModelWatch: says which role, what is wrong and what comes next, and of a long outage a few lines") {
  std::vector<std::string> said;
  detail::ModelWatch watch([&said](const std::string& text) { said.push_back(text); });
  CHECK(watch.no_reply().empty());  // nothing was asked
  watch.see(exchange_with(ReplyFault::no_code, false));
  CHECK(said.back() ==
        "rewriter: a reply that cannot be used (no_code): There is no block of code in the reply.; it is "
        "asked "
        "again");
  said.clear();
  for (int i = 0; i < 60; ++i) watch.see(exchange_without(ChatFailure::network));
  REQUIRE(said.size() == 6);  // the 1st, 2nd, 4th, 8th, 16th, 32nd
  CHECK(said.front() ==
        "rewriter: no reply (network): nobody is there; the question is given up, and the search goes on "
        "without it");
  CHECK(said.back().find("(32 in a row)") != std::string::npos);
  CHECK(watch.no_reply() ==
        "no model gave a reply that could be used, to 61 questions; the last: rewriter: no reply (network): "
        "nobody is there");
  said.clear();
  watch.see(exchange_with(ReplyFault::empty));  // another kind of failure is said at once
  CHECK(said.size() == 1);
}

TEST_CASE("ModelWatch: a plan or an analysis that nobody could use is no reply of use") {
  detail::ModelWatch watch(nullptr);
  Exchange plan;
  plan.role = "planner";
  plan.for_another = true;
  watch.see(plan);
  Exchange talk;
  talk.role = "coder";
  talk.judgement = {ReplyFault::no_code, "There is no block."};
  talk.last = true;
  watch.see(talk);
  CHECK(watch.no_reply().find("to 2 questions; the last: coder: a reply that cannot be used (no_code)") !=
        std::string::npos);
}

TEST_CASE("ModelWatch: one reply of use is enough, also that something does not apply, or one of earlier") {
  detail::ModelWatch watch(nullptr);
  watch.see(exchange_without(ChatFailure::timed_out));
  CHECK_FALSE(watch.no_reply().empty());
  watch.see(exchange_with(ReplyFault::none));
  CHECK(watch.no_reply().empty());
  detail::ModelWatch resumed(nullptr);
  resumed.see(exchange_without(ChatFailure::budget));
  resumed.see_earlier();
  CHECK(resumed.no_reply().empty());
  detail::ModelWatch stopped(nullptr);
  stopped.see(exchange_without(ChatFailure::cancelled));  // by whoever stops the run
  CHECK(stopped.no_reply().empty());
}
