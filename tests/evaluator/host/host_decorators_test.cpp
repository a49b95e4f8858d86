// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the host's evaluator can do is reached through every decorator
// (tests/evaluator/evaluator_decorator_test.cpp has the rest of them).
#include <doctest/doctest.h>

#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/evaluator/cached.hpp"
#include "kernelsearch/evaluator/code_inspected.hpp"
#include "kernelsearch/evaluator/host/host_code_inspector.hpp"
#include "kernelsearch/evaluator/paired_with_parent.hpp"
#include "kernelsearch/evaluator/pool.hpp"
#include "kernelsearch/evaluator/then.hpp"
#include "kernelsearch/problem/counted_roofline.hpp"
#include "support.hpp"

using namespace kernelsearch;

namespace {

using Inspected = CodeInspected<HostEvaluator, Candidate, HostCodeInspector>;
using Observed = Then<Inspected, Candidate, CountedRoofline>;

struct KeyOf {
  std::string operator()(const Candidate& candidate) const { return candidate.kernel->regions.device; }
};

template <class E>
constexpr bool complete = DeviceEvaluator<E>&& PairingEvaluator<E, Candidate>&& requires(E& e, const E& asked,
                                                                                         const Candidate& c) {
  e.compare(c, c);
  e.compare_with_reference(c);
  asked.device_name();
  asked.options();
};
template <class E>
constexpr bool renews = requires(E& e) {
  e.renew();
};
static_assert(complete<HostEvaluator> && !renews<HostEvaluator>);
static_assert(complete<Inspected> && !renews<Inspected>);
static_assert(complete<Observed> && !renews<Observed>);
static_assert(complete<Cached<Inspected, KeyOf>>);
static_assert(complete<PairedWithParent<Cached<Inspected, KeyOf>>>);
static_assert(complete<Pool<Observed>>);

}  // namespace

TEST_CASE("HostEvaluator: inspected and observed it still compares and knows what it measures on") {
  const Problem problem =
      parse_problem(support::scale_problem("extern \"C\" void scale(int n, const float* x, float* y) {\n"
                                           "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;\n}\n"),
                    support::sources);
  HostEvaluator evaluator(problem, support::quick());
  const std::string device = evaluator.device_id(), toolchain = evaluator.toolchain_id();
  Observed observed(Inspected(std::move(evaluator), HostCodeInspector()), CountedRoofline{problem, {}});
  const Candidate candidate = support::default_candidate(problem);
  CHECK(observed.compare_with_reference(candidate).pairs > 0);
  AnyEvaluator any(std::move(observed));
  CHECK(any.problem().name == problem.name);
  CHECK(any.device_id() == device);
  CHECK(any.toolchain_id() == toolchain);
  const auto speedup =
      any.compare(candidate, candidate, {.min_pairs = 6, .max_pairs = 6, .budget_seconds = 60});
  REQUIRE(speedup);
  CHECK(speedup->pairs == 6);
}
