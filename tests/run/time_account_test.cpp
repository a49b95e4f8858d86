// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/time_account.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;
using kernelsearch::detail::TimeAccount;

namespace {

/// An account of a clock that is set by hand.
struct Account {
  double now = 100;
  TimeAccount account{[this] { return now; }};

  void pass(double seconds) { now += seconds; }
  void does(std::size_t compiling, std::size_t measuring, std::size_t asking) {
    account.does({.compiling = compiling, .measuring = measuring, .asking = asking});
  }
};

}  // namespace

TEST_CASE("TimeAccount: each moment counts once, for what nothing else waits for") {
  Account at;
  at.pass(1);
  at.account.open();  // until here it was starting
  at.pass(2);         // nothing is under way
  at.does(1, 0, 1);
  at.pass(4);
  at.does(15, 1, 0);
  at.pass(8);
  at.does(0, 0, 1);
  at.pass(16);
  at.does(0, 0, 0);
  at.account.close();
  const RunTimes times = at.account.taken();
  CHECK(times == RunTimes{.starting = 1, .model = 16, .building = 4, .measuring = 8, .other = 2});
  CHECK(at.account.taken() == RunTimes{});  // once
}

TEST_CASE("TimeAccount: what passes between two calls is nobody's") {
  Account at;
  at.account.open();
  at.pass(1);
  at.account.close();
  at.pass(50);
  at.account.open();
  at.account.open();  // one within the other
  at.pass(2);
  at.account.close();
  at.pass(3);
  at.account.close();
  at.pass(60);
  CHECK(at.account.taken() == RunTimes{.other = 6});
}

TEST_CASE("TimeAccount: finalists are one cause, and the reference has its share of measuring") {
  Account at;
  at.account.open();
  at.does(0, 2, 0);
  at.pass(10);
  at.account.judged({.build = 5, .check = 4, .measure = 12, .reference = 4});  // two devices at once
  at.account.finalists(true);
  at.pass(7);
  at.account.judged({.check = 100, .reference = 100});
  at.account.finalists(false);
  at.does(0, 0, 0);
  at.account.close();
  CHECK(at.account.taken() == RunTimes{.reference = 2.5, .measuring = 7.5, .finalists = 7});
}
