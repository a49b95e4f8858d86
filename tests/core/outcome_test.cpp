// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/outcome.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace kernelsearch;

TEST_CASE("Evaluation: a failure has its verdict, its reason and its graded progress") {
  const Evaluation wrong = Evaluation::failed(Verdict::wrong_result, "c[3] is 1, expected 2", 0.5);
  CHECK(wrong.verdict == Verdict::wrong_result);
  CHECK(wrong.reason == "c[3] is 1, expected 2");
  CHECK(wrong.progress == graded_progress(Verdict::wrong_result, 0.5));
  CHECK(std::isinf(wrong.measurement.seconds));
}

TEST_CASE("Evaluation: a success has its time and all the progress") {
  const Evaluation right = Evaluation::succeeded(0.25);
  CHECK(right.verdict == Verdict::ok);
  CHECK(right.progress == 1.0);
  CHECK(right.measurement.seconds == 0.25);
  CHECK(right.measurement.interval == Interval{0.25, 0.25});
  CHECK(right.reason.empty());
}

TEST_CASE("Evaluation: a time that is no number is a failure with a reason") {
  const Evaluation nothing = Evaluation::succeeded(std::nan(""));
  CHECK(nothing.verdict == Verdict::wrong_result);
  CHECK(nothing.reason == "the time is not a number (NaN)");
  CHECK(nothing.progress == graded_progress(Verdict::wrong_result));
  CHECK(std::isinf(nothing.measurement.seconds));
  CHECK(Evaluation::succeeded(0.0).verdict == Verdict::ok);
}

TEST_CASE("Outcome: ok is the verdict's, and nothing is better than an objective never measured") {
  Outcome outcome;
  CHECK(outcome.ok());
  CHECK(std::isinf(outcome.objective));
  CHECK_FALSE(outcome.origin.has_value());
  outcome.evaluation = Evaluation::failed(Verdict::crashed, "");
  CHECK_FALSE(outcome.ok());
}

TEST_CASE("PhaseSeconds: the total is all three") {
  CHECK(PhaseSeconds{1.0, 2.0, 4.0}.total() == 7.0);
}

TEST_CASE("Origin: equality looks at proposal, index and count") {
  const Origin origin{ProposalId{1}, 2, 3};
  CHECK(origin == Origin{ProposalId{1}, 2, 3});
  CHECK_FALSE(origin == Origin{ProposalId{2}, 2, 3});
  CHECK_FALSE(origin == Origin{ProposalId{1}, 1, 3});
  CHECK_FALSE(origin == Origin{ProposalId{1}, 2, 4});
}
