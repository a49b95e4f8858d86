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
  CHECK(to_string(Verdict::cheated) == "cheated");  // the last: no name is missing before it
  CHECK(to_string(Verdict::build_failed) == "build_failed");
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
