// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/ledger.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "support/approx.hpp"
#include "support/scripted_chat.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

TEST_CASE("Ledger: estimates are by characters and the reply's limit") {
  ChatRequest request = ScriptedChat::question(std::string(300, 'x'));
  request.max_tokens = 1000;
  const Ledger::Estimate estimate = Ledger::estimate(request, Prices{3, 15, 0.3, 3.75});
  CHECK(estimate.tokens == 104 + 1000);
  CHECK(estimate.money == approx((104 * 3.75 + 1000 * 15) * 1e-6));
  CHECK(Ledger::estimate(request, std::nullopt).money == 0.0);
}

TEST_CASE("Ledger: calls under way count at their largest until they are settled") {
  Ledger ledger({.tokens = 1000});
  const Ledger::Estimate estimate{600, 0.0};
  CHECK(ledger.reserve(estimate, false));
  CHECK_FALSE(ledger.reserve(estimate, false));  // 1200 would pass it
  ledger.settle(estimate, "coder", "m", ScriptedChat::reply("x", {.input = 100, .output = 200}), 1.0, {});
  CHECK(ledger.total().usage.total() == 300);
  CHECK(ledger.reserve(estimate, false));
  ledger.settle(estimate, "coder", "m", ScriptedChat::reply("x", {.input = 200, .output = 300}), 1.0, {});
  CHECK_FALSE(ledger.reserve(estimate, false));
}

TEST_CASE("Ledger: money and calls have limits of their own") {
  Ledger money({.money = 1.0});
  CHECK(money.reserve({10, 0.0}, false).error().find("prices") != std::string::npos);
  CHECK(money.reserve({10, 1.0}, true));
  CHECK_FALSE(money.reserve({10, 0.1}, true));
  Ledger calls({.calls = 2});
  CHECK(calls.reserve({}, false));
  CHECK(calls.reserve({}, false));
  CHECK_FALSE(calls.reserve({}, false));
}

TEST_CASE("Ledger: rows by role and model, failures and replays apart") {
  Ledger ledger;
  const auto book = [&](const char* role, const char* model, const ChatResult& result) {
    REQUIRE(ledger.reserve({10, 0.0}, true));
    ledger.settle({10, 0.0}, role, model, result, 2.0, Prices{1, 2, 0.5});
  };
  book(
      "planner", "a",
      ScriptedChat::reply("x", {.input = 1'000'000, .output = 500'000, .cached = 500'000, .reasoning = 100}));
  ChatResult again = ScriptedChat::reply("x", {.input = 1'000'000});
  again.reply->replayed = true;
  again.reply->seconds = 5.0;
  book("planner", "a", again);
  ChatResult failed = ChatResult::failed(ChatFailure::server, "no");
  failed.error.attempts = 5;
  failed.error.usage.input = 1'000'000;
  book("coder", "b", failed);
  const std::vector<LedgerRow> rows = ledger.rows();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].role == "coder");
  CHECK(rows[0].spending.failed == 1);
  CHECK(rows[0].spending.attempts == 5);
  CHECK(rows[0].spending.money == approx(1.0));
  CHECK(rows[1].spending.calls == 2);
  CHECK(rows[1].spending.replayed == 1);
  CHECK(rows[1].spending.money == approx(0.5 + 0.25 + 1.0 + 1.0));
  CHECK(rows[1].spending.replayed_money == approx(1.0));
  CHECK(rows[1].spending.usage.reasoning == 100);
  CHECK(rows[1].spending.seconds == approx(7.0));  // a replay takes as long as what it replays took
  const auto document = nlohmann::json::parse(ledger.json());
  CHECK(document.at("total").at("calls") == 3);
  CHECK(document.at("rows").at(1).at("tokens").at("cached") == 500'000);
  CHECK(ledger.text().find("planner") != std::string::npos);
}

TEST_CASE("Ledger: what was spent earlier is booked without a reservation, and counts towards the limits") {
  Ledger ledger({.money = 2.0, .tokens = 1000, .calls = 3});
  ledger.book("coder", "m", ScriptedChat::reply("x", {.input = 400, .output = 100}), 1.0, Prices{1, 2});
  ledger.book("coder", "m", ChatResult::failed(ChatFailure::server, "down"), 0.0, Prices{1, 2});
  CHECK(ledger.total().calls == 2);
  CHECK(ledger.total().failed == 1);
  CHECK(ledger.total().usage.total() == 500);
  CHECK_FALSE(ledger.reserve({501, 0.0}, true));
  CHECK(ledger.reserve({500, 0.0}, true));
  CHECK_FALSE(ledger.reserve({0, 0.0}, true));  // a call is under way: that makes three
  ledger.settle({500, 0.0}, "coder", "m", ScriptedChat::reply("x", {.input = 1, .output = 1}), 1.0, {});
  CHECK(ledger.total().calls == 3);
}
