// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the GPU evaluator can do is reached through every decorator
// (tests/evaluator/evaluator_decorator_test.cpp has the rest of them).
#include "evaluator/gpu/support.hpp"
#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/evaluator/cached.hpp"
#include "kernelsearch/evaluator/code_inspected.hpp"
#include "kernelsearch/evaluator/gpu/gpu_code_inspector.hpp"
#include "kernelsearch/evaluator/gpu/gpu_roofline.hpp"
#include "kernelsearch/evaluator/paired_with_parent.hpp"
#include "kernelsearch/evaluator/pool.hpp"
#include "kernelsearch/evaluator/then.hpp"

using namespace gpu_test;

namespace {

using Inspected = CodeInspected<GpuEvaluator, Candidate, GpuCodeInspector>;
using Observed = Then<Inspected, Candidate, CountedRoofline>;

struct KeyOf {
  std::string operator()(const Candidate& candidate) const { return candidate.kernel->regions.device; }
};

template <class E>
constexpr bool complete = DeviceEvaluator<E>&& PairingEvaluator<E, Candidate>&& requires(E& e, const E& asked,
                                                                                         const Candidate& c) {
  e.compare(c, c);
  e.renew();
  asked.device_name();
  asked.device();
  asked.options();
  asked.busy_seconds();
};
static_assert(complete<GpuEvaluator>);
static_assert(complete<Inspected>);
static_assert(complete<Observed>);
static_assert(complete<Cached<Inspected, KeyOf>>);
static_assert(complete<PairedWithParent<Cached<Inspected, KeyOf>>>);
static_assert(complete<Pool<Observed>>);

}  // namespace

TEST_CASE("GpuEvaluator: inspected and observed it still compares, renews and knows what it measures on") {
  GpuOptions options = quick();
  options.pairs = {.when = Pairing::never, .min_pairs = 6, .max_pairs = 8};
  const Problem problem = DeviceProblem{}.parsed();
  GpuEvaluator evaluator(problem, options);
  const std::string device = evaluator.device_id(), name = evaluator.device_name(),
                    toolchain = evaluator.toolchain_id();
  CountedRoofline counted = gpu_roofline(evaluator);
  Observed observed(Inspected(std::move(evaluator), GpuCodeInspector()), std::move(counted));
  CHECK(observed.device().name == name);
  CHECK(observed.options().pairs.max_pairs == 8);
  AnyEvaluator any(std::move(observed));
  CHECK(any.problem().name == problem.name);
  CHECK(any.device_id() == device);
  CHECK(any.device_name() == name);
  CHECK(any.toolchain_id() == toolchain);
  const Candidate candidate = default_candidate(problem);
  const auto speedup = any.compare(candidate, candidate, {.min_pairs = 6, .max_pairs = 6});
  REQUIRE(speedup);
  CHECK(speedup->pairs == 6);
  any.renew();
  CHECK(any.evaluate(candidate, {}).verdict == Verdict::ok);
}
