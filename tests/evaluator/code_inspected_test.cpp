// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/code_inspected.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/evaluator/then.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "support/scripted.hpp"

using namespace kernelsearch;

namespace {

/// Builds what is not a multiple of ten; even numbers are wrong.
struct Halves {
  using Artifact = int;
  Staged<int> build(int x, const EvaluationContext&) {
    if (x % 10 == 0) return {Evaluation::failed(Verdict::build_failed, "a ten"), std::nullopt};
    Staged<int> staged{{}, x};
    staged.evaluation.features.set("bytes", x);
    return staged;
  }
  Evaluation run(Staged<int>&& staged, const EvaluationContext&) {
    Evaluation evaluation = std::move(staged.evaluation);
    evaluation.verdict = *staged.artifact % 2 == 0 ? Verdict::wrong_result : Verdict::ok;
    evaluation.measurement.seconds = *staged.artifact;
    return evaluation;
  }
  Evaluation evaluate(int x, const EvaluationContext& context) {
    return evaluate_in_stages(*this, x, context);
  }
  [[nodiscard]] std::size_t lanes() const { return 3; }
  [[nodiscard]] std::string device_id() const { return "a device"; }
};

struct Digits {
  std::atomic<int>* calls;
  Features inspect(const int& artifact) {
    ++*calls;
    Features features;
    features.set("digits", artifact < 10 ? 1 : 2);
    return features;
  }
};

}  // namespace

TEST_CASE("CodeInspected: what was built is looked into, right or wrong, before it runs") {
  std::atomic<int> calls = 0;
  CodeInspected<Halves, int, Digits> inspected({}, {&calls});
  const Evaluation right = inspected.evaluate(7, {});
  CHECK(right.verdict == Verdict::ok);
  CHECK(right.features.find("digits") == 1);
  CHECK(right.features.find("bytes") == 7);
  const Evaluation wrong = inspected.evaluate(12, {});
  CHECK(wrong.verdict == Verdict::wrong_result);
  CHECK(wrong.features.find("digits") == 2);
  CHECK(inspected.evaluate(20, {}).features.empty());
  CHECK(calls == 2);
  CHECK(inspected.lanes() == 3);
  CHECK(inspected.device_id() == "a device");
  std::stop_source stopped;
  stopped.request_stop();
  EvaluationContext context;
  context.stop = stopped.get_token();
  CHECK(!inspected.build(7, context).evaluation.features.find("digits"));
}

TEST_CASE("CodeInspected: stays staged under other decorators and in the loop") {
  static_assert(StagedEvaluator<CodeInspected<Halves, int, Digits>, int>);
  std::atomic<int> calls = 0;
  Optimizer search{scripted::Counting{.last = 30},
                   scripted::Copying{},
                   CodeInspected<Halves, int, Digits>({}, {&calls}),
                   {.in_flight = 3, .build_threads = 2}};
  (void)search.run();
  REQUIRE(search.best());
  CHECK(search.best()->outcome.evaluation.features.find("digits").has_value());
}
