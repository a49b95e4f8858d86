// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/failures.hpp"

#include <doctest/doctest.h>

#include "support/stored_run.hpp"

using namespace kernelsearch;

TEST_CASE("FailureReasons: alike but for numbers, the commonest first, each with its first trial") {
  FailureReasons reasons;
  CHECK_FALSE(reasons.add(TrialId{0}, Evaluation::succeeded(1)));
  CHECK(reasons.add(TrialId{1}, Evaluation::failed(Verdict::wrong_result, "y[3] is 7 instead of 6")));
  CHECK(reasons.add(TrialId{2}, Evaluation::failed(Verdict::build_failed, "x is not declared")));
  CHECK_FALSE(reasons.add(TrialId{3}, Evaluation::failed(Verdict::build_failed, "x is not declared")));
  CHECK(reasons.add(TrialId{4}, Evaluation::failed(Verdict::crashed, "y[3] is 7 instead of 6")));
  CHECK_FALSE(reasons.add(TrialId{5}, Evaluation::failed(Verdict::build_failed, "x is not declared")));
  CHECK_FALSE(
      reasons.add(TrialId{6}, Evaluation::failed(Verdict::wrong_result, "y[128] is 2.5e-07 instead of -60")));
  const auto groups = reasons.groups();
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].verdict == Verdict::build_failed);
  CHECK(groups[0].count == 3);
  CHECK(groups[0].trial == TrialId{2});
  CHECK(groups[0].reason == "x is not declared");
  CHECK(groups[1].verdict == Verdict::wrong_result);
  CHECK(groups[1].count == 2);
  CHECK(groups[2].verdict == Verdict::crashed);
}

TEST_CASE(
    "FailureReasons: what judging says of wrong results is one kind, whatever its numbers and its length") {
  FailureReasons reasons;
  const std::string rest = "; 100 % of y wrong (shape one, declared inputs, seed ";
  CHECK(reasons.add(TrialId{2}, Evaluation::failed(Verdict::wrong_result,
                                                   "y[0] is 2.47034001, expected 1.47034001 within 0.000247" +
                                                       rest + "0xabe41ea0123456789)")));
  CHECK_FALSE(reasons.add(
      TrialId{5},
      Evaluation::failed(Verdict::wrong_result,
                         "y[0] is -0.596089959, expected -1.59608996 within 0.00026" + rest + "0x7525)")));
  REQUIRE(reasons.groups().size() == 1);
  CHECK(reasons.groups()[0].reason.size() == 120);
}

TEST_CASE("FailureReasons: a write outside of the arrays is a kind of its own, whatever the words") {
  FailureReasons reasons;
  Evaluation outside = Evaluation::failed(Verdict::cheated, "the same words");
  CHECK(reasons.add(TrialId{1}, outside));
  outside.overrun = Overrun{"y", 9, 9};
  CHECK(reasons.add(TrialId{2}, outside));
  CHECK_FALSE(reasons.add(TrialId{3}, outside));
  const auto groups = reasons.groups();
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].shown() == "out_of_bounds");
  CHECK(groups[0].verdict == Verdict::cheated);
  CHECK(groups[1].shown() == "cheated");
}

TEST_CASE("short_reason: the line that names an error, else the first, cut between characters") {
  CHECK(short_reason("In file included from a.hpp\n  kernel.cpp:3:1: error: no x\nnote: here") ==
        "kernel.cpp:3:1: error: no x");
  CHECK(short_reason("\n  first  \nsecond") == "first");
  CHECK(short_reason("") == "");
  CHECK(short_reason("abcdefgh", 8) == "abcdefgh");
  CHECK(short_reason("abcdefghi", 8) == "abcde...");
  CHECK(short_reason("abcd\xc3\xa9"
                     "fghi",
                     8) == "abcd...");
}

TEST_CASE("failure_reasons: of a stored run") {
  const StoredRun stored;
  const auto groups = failure_reasons(stored.store, stored.run);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].trial == TrialId{2});
  CHECK(groups[0].verdict == Verdict::build_failed);
  CHECK(groups[1].trial == TrialId{3});
}
