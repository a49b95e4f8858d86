// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/function_evaluator.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace kernelsearch;

TEST_CASE("FunctionEvaluator: seconds, or a whole evaluation, come from the callable") {
  FunctionEvaluator seconds{[](int x) { return 0.5 * x; }};
  static_assert(Evaluator<decltype(seconds), int>);
  static_assert(!Evaluator<decltype(seconds), std::string>);
  const Evaluation right = seconds.evaluate(3, {});
  CHECK(right.verdict == Verdict::ok);
  CHECK(right.measurement.seconds == 1.5);

  FunctionEvaluator judged{[](const std::string& why) { return Evaluation::failed(Verdict::crashed, why); }};
  const Evaluation wrong = judged.evaluate(std::string("signal 11"), {});
  CHECK(wrong.verdict == Verdict::crashed);
  CHECK(wrong.reason == "signal 11");
}
