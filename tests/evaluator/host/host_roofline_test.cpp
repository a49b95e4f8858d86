// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_roofline.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/evaluator/then.hpp"
#include "kernelsearch/model/roofline.hpp"
#include "support.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

TEST_CASE("host_roofline: a step that tells how near to this machine's limits a kernel is") {
  const std::string kernel =
      "extern \"C\" void scale(int n, const float* x, float* y) { for (int i = 0; i < n; ++i) y[i] = 3 * "
      "x[i] + 1; }";
  const Problem problem = parse_problem(
      support::scale_problem(kernel, R"(, "operations": "2*n", "bytes": "8*n")"), support::sources);
  HostEvaluator evaluator(problem, support::quick());
  const CountedRoofline step = host_roofline(evaluator);
  CHECK_FALSE(step.options.cold);
  CHECK(support::fs::exists(support::scratch() / "cache" / "peaks"));  // kept beside the compiled kernels
  Then<HostEvaluator, Candidate, CountedRoofline> judged(std::move(evaluator), step);
  const Evaluation evaluation = judged.evaluate(support::default_candidate(problem), {});
  REQUIRE_MESSAGE(evaluation.verdict == Verdict::ok, evaluation.reason);
  CHECK(evaluation.features.find("intensity").value() == approx(0.25));
  CHECK(evaluation.features.find("operations_per_second").value() ==
        approx(2 * 4096 / evaluation.measurement.shapes.at(0).median));
  if (step.peaks.f32) {
    const RooflineGaps gaps = roofline_gaps(evaluation.features);
    CHECK(gaps[Axis::compute]);
    CHECK(gaps[Axis::memory]);
    // no counters: unknown, unless the roof leaves no room for a gap
    const bool near = evaluation.features.find("roof_utilisation").value() > 85;
    CHECK(gaps[Axis::latency].has_value() == near);
    CHECK((bound_of(gaps) == Bound::near_peak) == near);
  }
}

TEST_CASE("host_roofline: cold caches come from memory") {
  HostOptions options = support::quick();
  options.cache = CacheMode::cold;
  const Problem problem = parse_problem(
      support::scale_problem("extern \"C\" void scale(int, const float*, float*) {}"), support::sources);
  CHECK(host_roofline(HostEvaluator(problem, options)).options.cold);
}
