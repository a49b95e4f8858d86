// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/cached.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/evaluator/function_evaluator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "support/scripted.hpp"

using namespace kernelsearch;

namespace {
const auto tens = [](int x) { return std::to_string(x % 10); };
}

TEST_CASE("Cached: each content is evaluated once, failures included") {
  int calls = 0;
  Cached cached(FunctionEvaluator([&calls](int x) {
                  ++calls;
                  return x % 10 == 3 ? Evaluation::failed(Verdict::crashed, "3")
                                     : Evaluation::succeeded(1.0 + x);
                }),
                tens);
  CHECK(cached.evaluate(1, {}).measurement.seconds == 2.0);
  CHECK(cached.evaluate(11, {}).measurement.seconds == 2.0);
  CHECK(cached.evaluate(3, {}).verdict == Verdict::crashed);
  CHECK(cached.evaluate(13, {}).verdict == Verdict::crashed);
  CHECK(calls == 2);
}

TEST_CASE("Cached: a staged evaluator stays staged, and a known candidate needs neither build nor run") {
  using Scripted = scripted::Landscape;
  static_assert(StagedEvaluator<Cached<Scripted, decltype(tens)>, int>);
  Cached cached(Scripted{.lane_count = 3}, tens);
  CHECK(cached.lanes() == 3);
  auto first = cached.build(12, {});
  REQUIRE(first.artifact.has_value());
  const Evaluation evaluation = cached.run(std::move(first), {});
  const auto second = cached.build(22, {});
  CHECK_FALSE(second.artifact.has_value());
  CHECK(second.evaluation.measurement.seconds == evaluation.measurement.seconds);
  CHECK_FALSE(cached.build(7, {}).artifact.has_value());
  CHECK(cached.build(17, {}).evaluation.verdict == Verdict::build_failed);  // 7's, not built again
}

TEST_CASE("Cached: an evaluation cut short by a stop is not kept") {
  std::stop_source stop;
  bool failing = true;
  Cached cached(FunctionEvaluator([&](int) {
                  return failing ? Evaluation::failed(Verdict::timed_out, "stopped")
                                 : Evaluation::succeeded(1.0);
                }),
                tens);
  EvaluationContext context;
  context.stop = stop.get_token();
  stop.request_stop();
  CHECK(cached.evaluate(1, context).verdict == Verdict::timed_out);
  failing = false;
  CHECK(cached.evaluate(1, {}).verdict == Verdict::ok);
}

TEST_CASE("Cached: works inside the pipelined loop") {
  Optimizer search{scripted::Counting{.last = 100},
                   scripted::Copying{},
                   Cached(scripted::Landscape{}, tens),
                   {.in_flight = 4, .build_threads = 2}};
  CHECK(search.run().trials == 100);
}
