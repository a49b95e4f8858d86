// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/verdict.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace kernelsearch;

TEST_CASE("Verdict: every name is its own and reads back") {
  std::set<std::string_view> names;
  for (int i = 0; i < verdict_count; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    names.insert(to_string(verdict));
    CHECK(verdict_from(to_string(verdict)) == verdict);
  }
  CHECK(names.size() == verdict_count);
  // Stores hold these names: a change here needs a migration there.
  CHECK(to_string(Verdict::ok) == "ok");
  CHECK(to_string(Verdict::not_generated) == "not_generated");
  CHECK(to_string(Verdict::not_applicable) == "not_applicable");
  CHECK(to_string(Verdict::rejected) == "rejected");
  CHECK(to_string(Verdict::build_failed) == "build_failed");
  CHECK(to_string(Verdict::launch_failed) == "launch_failed");
  CHECK(to_string(Verdict::crashed) == "crashed");
  CHECK(to_string(Verdict::timed_out) == "timed_out");
  CHECK(to_string(Verdict::wrong_result) == "wrong_result");
  CHECK(to_string(Verdict::cheated) == "cheated");
  CHECK_FALSE(verdict_from("Ok").has_value());
  CHECK_FALSE(verdict_from("").has_value());
}

TEST_CASE("graded_progress: the further a candidate came the more, and only a right one has it all") {
  CHECK(graded_progress(Verdict::ok) == 1.0);
  CHECK(graded_progress(Verdict::wrong_result, 1.0) == 0.75);
  CHECK(graded_progress(Verdict::wrong_result, 0.5) == 0.625);
  CHECK(graded_progress(Verdict::wrong_result) == 0.5);
  for (const Verdict built : {Verdict::launch_failed, Verdict::crashed, Verdict::timed_out})
    CHECK(graded_progress(built, 1.0) == 0.25);
  for (const Verdict not_built :
       {Verdict::not_generated, Verdict::rejected, Verdict::build_failed, Verdict::cheated})
    CHECK(graded_progress(not_built, 1.0) == 0.0);
}

TEST_CASE("verdict: of what does not apply there is neither a candidate nor a trial") {
  for (int i = 0; i < verdict_count; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    CHECK(is_trial(verdict) == (verdict != Verdict::not_applicable));
    CHECK(has_candidate(verdict) ==
          (verdict != Verdict::not_applicable && verdict != Verdict::not_generated));
  }
}
