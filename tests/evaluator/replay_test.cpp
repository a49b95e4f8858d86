// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/replay.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace kernelsearch;

TEST_CASE("Replay: answers from the table, rejects the rest, advances its clock by what was recorded") {
  auto table = std::make_shared<EvaluationTable>();
  Evaluation recorded = Evaluation::succeeded(0.25);
  recorded.phases = {.build = 2.0, .check = 0.5, .measure = 1.0};
  table->emplace("16", recorded);
  Replay replay(table, [](int x) { return std::to_string(x); });
  CHECK(replay.evaluate(16, {}).measurement.seconds == 0.25);
  CHECK(replay.virtual_seconds() == 3.5);
  const Evaluation unknown = replay.evaluate(17, {});
  CHECK(unknown.verdict == Verdict::rejected);
  CHECK(unknown.reason == "not in the recorded table: 17");
  CHECK(replay.virtual_seconds() == 3.5);
}
