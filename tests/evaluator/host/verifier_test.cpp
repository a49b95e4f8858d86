// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/verifier.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "evaluator/host/support.hpp"
#include "kernelsearch/judge/machine.hpp"

using namespace kernelsearch;
using detail::Verifier;
using support::quick;

namespace {

const std::string scale_head = "extern \"C\" void scale(int n, const float* x, float* y) {\n";
const std::string scaled_body = "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;\n}\n";

/// A verifier, with what it compares with.
struct VerifierBench {
  explicit VerifierBench(const std::string& kernel, const std::string& more = {})
      : problem(parse_problem(support::scale_problem(kernel, more), support::sources)),
        verifier(problem, compiler, settings),
        plan(detail::plan_shape(problem, problem.default_candidate(), 1)) {
    set = inputs.for_check(plan, shown).front();
    for (std::size_t i = 0; i < count(); ++i) result.push_back(3 * x(i) + 1);
  }
  [[nodiscard]] std::size_t count() const { return plan.arguments[2].count; }
  [[nodiscard]] float x(std::size_t i) const {
    float value = 0;
    std::memcpy(&value, &set->contents[1][i * sizeof value], sizeof value);
    return value;
  }
  [[nodiscard]] Verifier::Opinion opinion() {
    std::vector<std::vector<std::byte>> got(3);
    got[2].resize(count() * sizeof(float));
    std::memcpy(got[2].data(), result.data(), got[2].size());
    return verifier.compare(plan, *set, set->contents, got, subject);
  }
  /// The configuration with that value of the tunable KIND, and its code.
  [[nodiscard]] Candidate kind(std::int64_t value) const {
    Candidate candidate = problem.default_candidate();
    const std::vector<Value> values{Value(value)};
    candidate.config = *candidate.kernel->space.config_of(values);
    return candidate;
  }
  [[nodiscard]] std::filesystem::path code(const Candidate& candidate) {
    return compiler.compile(candidate_job(problem, candidate)).library;
  }

  Problem problem;
  HostOptions options = quick();
  detail::WorkerSettings settings = detail::worker_settings(options, {host_machine().cores.back()}, problem);
  detail::CompileCache compiler{options, host_machine().id(), host_machine().cores};
  detail::References references{problem, compiler, settings};
  detail::InputGenerator generator{problem, options};
  detail::InputSets inputs{problem, references, generator, {}};
  Verifier verifier;
  detail::ShapePlan plan;
  detail::ShownSets shown;
  std::shared_ptr<detail::InputSet> set;
  std::vector<float> result;
  std::filesystem::path subject = "the code that is compared";
};

/// Kinds of one kernel: 0 does not build, 2 is wrong, the others are right.
const std::string kind_kernel = "#if KIND == 0\n#error nothing\n#endif\n" + scale_head +
                                "  for (int i = 0; i < n; ++i) y[i] = (KIND == 2 ? 2 : 3) * x[i] + 1;\n}\n";

/// The first of these is the default.
std::string with_kinds(const std::string& values) {
  return R"(, "tunables": {"KIND": [)" + values + "]}";
}

/// A problem whose reference counts as expensive for every call.
HostOptions expensive_reference() {
  HostOptions options = quick();
  options.check.fresh_seconds = 0;
  options.sampling.budget_seconds = 0.1;
  return options;
}

/// Right in its first calls on the large shape, then in the first elements only.
std::string right_at_first(int calls) {
  return scale_head + "  static int made; const bool lazy = n > 100 && ++made > " + std::to_string(calls) +
         ";\n  for (int i = 0; i < n; ++i) y[i] = lazy && i >= n / 8 ? 1 : 3 * x[i] + 1;\n}\n";
}

Candidate with_source(const Problem& problem, const std::string& source) {
  Kernel kernel = problem.kernel;
  kernel.regions.device = source;
  return {std::make_shared<const Kernel>(std::move(kernel)), problem.kernel.space.default_config()};
}

}  // namespace

TEST_CASE("the default configuration says whether a call is right, to within the tolerance") {
  VerifierBench bench(scale_head + scaled_body);
  CHECK(bench.opinion() == Verifier::Opinion::same);
  const float kept = bench.result.back();
  bench.result.back() = kept * 1.0000005f;
  CHECK(bench.opinion() == Verifier::Opinion::same);
  bench.result.back() = kept + 1;
  CHECK(bench.opinion() == Verifier::Opinion::different);
  CHECK(bench.verifier.seconds(1) > 0);
}

TEST_CASE("a default configuration that is wrong, or does not build, says nothing") {
  CHECK(VerifierBench(scale_head + "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + 1;\n}\n").opinion() ==
        Verifier::Opinion::none);
  CHECK(VerifierBench("#error nothing\n").opinion() == Verifier::Opinion::none);
  CHECK(VerifierBench(scale_head + "  __builtin_trap();\n}\n").opinion() == Verifier::Opinion::none);
  CHECK(VerifierBench(scale_head + scaled_body, R"(, "valid": "n < 100")").opinion() ==
        Verifier::Opinion::none);
}

TEST_CASE("a faster configuration of the problem's own kernel is asked, but never about itself") {
  VerifierBench bench(kind_kernel, with_kinds("0, 1, 2, 3"));
  const Candidate right = bench.kind(1);
  CHECK(bench.opinion() == Verifier::Opinion::none);  // the default does not build
  // What somebody else wrote would pass its own children.
  bench.verifier.learn(with_source(bench.problem, scale_head + scaled_body), bench.code(right), 0.1);
  CHECK(bench.opinion() == Verifier::Opinion::none);
  bench.verifier.learn(right, bench.code(right), 0.1);
  CHECK(bench.opinion() == Verifier::Opinion::same);
  bench.subject = bench.code(right);
  CHECK(bench.opinion() == Verifier::Opinion::none);
  bench.verifier.learn(bench.kind(3), bench.code(bench.kind(3)), 0.2);
  CHECK(bench.opinion() == Verifier::Opinion::same);  // by the other
  bench.result.back() += 1;
  CHECK(bench.opinion() == Verifier::Opinion::different);
}

TEST_CASE("the default configuration is asked where the faster one is wrong, or hardly faster") {
  VerifierBench bench(kind_kernel, with_kinds("1, 2, 3"));
  const Candidate wrong = bench.kind(2);
  bench.verifier.learn(wrong, bench.code(wrong), 0.1);
  CHECK(bench.opinion() == Verifier::Opinion::same);
  // Kind 2 in the place of the default is wrong and says nothing; whoever is hardly faster is not taken.
  VerifierBench other(kind_kernel, with_kinds("2, 1, 3"));
  other.verifier.learn(other.kind(2), other.code(other.kind(2)), 1.0);
  other.verifier.learn(other.kind(1), other.code(other.kind(1)), 0.9);
  CHECK(other.opinion() == Verifier::Opinion::none);
  other.verifier.learn(other.kind(1), other.code(other.kind(1)), 0.5);
  CHECK(other.opinion() == Verifier::Opinion::same);
}

TEST_CASE("where the reference is expensive a kernel that is right in its first calls only is found") {
  const Problem problem = parse_problem(support::scale_problem(scale_head + scaled_body), support::sources);
  HostEvaluator evaluator(problem, expensive_reference());
  for (int i = 0; i < 9; ++i) {  // more than it takes to show all that is kept
    const Evaluation honest = evaluator.evaluate(problem.default_candidate(), {});
    CHECK_MESSAGE(honest.verdict == Verdict::ok, honest.reason);
    CHECK(honest.features.find("verified_calls").value_or(0) >= detail::least_verified);
  }
  const Evaluation cheat = evaluator.evaluate(with_source(problem, right_at_first(30)), {});
  CHECK(cheat.verdict == Verdict::wrong_result);
  CAPTURE(cheat.reason);
  CHECK(cheat.reason.find("in a timed call") != std::string::npos);
}

TEST_CASE("where nobody else can say it, an expensive reference is asked for those that would win") {
  // The default configuration does not even build.
  const Problem problem = parse_problem(support::scale_problem("#error nothing\n"), support::sources);
  HostEvaluator evaluator(problem, expensive_reference());
  const Evaluation honest = evaluator.evaluate(with_source(problem, scale_head + scaled_body), {});
  CHECK_MESSAGE(honest.verdict == Verdict::ok, honest.reason);
  CHECK(honest.features.find("verified_calls").value_or(0) >= detail::least_verified);
  CHECK(evaluator.evaluate(with_source(problem, right_at_first(30)), {}).verdict == Verdict::wrong_result);
  // It cannot win: then it is not worth it.
  EvaluationContext hopeless;
  hopeless.incumbent = 1e-12;
  const Evaluation slow = evaluator.evaluate(with_source(problem, scale_head + scaled_body), hopeless);
  CHECK(slow.verdict == Verdict::ok);
  CHECK(slow.features.find("verified_calls").value_or(0) < detail::least_verified);
}

TEST_CASE("what may win is called more often than a kernel may be right at first") {
  const std::string slow = scale_head +
                           "  for (volatile int i = 0; i < 2000000; i = i + 1) {}\n  for (int i = 0; i < n; "
                           "++i) y[i] = 3 * x[i] + 1;\n}\n";
  const Problem problem = parse_problem(support::scale_problem(slow), support::sources);
  HostOptions options = quick();
  options.sampling.max_samples = 10;
  options.sampling.budget_seconds = 5;
  HostEvaluator evaluator(problem, options);
  const auto timed = [&](const EvaluationContext& context) {
    const Evaluation e = evaluator.evaluate(problem.default_candidate(), context);
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
    return e.features.find("timed_calls").value_or(0);
  };
  CHECK(timed({}) >= 64);
  EvaluationContext hopeless;
  hopeless.incumbent = 1e-12;
  CHECK(timed(hopeless) < 64);
}

TEST_CASE("both sides of a comparison are verified") {
  const Problem problem = parse_problem(support::scale_problem(scale_head + scaled_body), support::sources);
  HostEvaluator evaluator(problem, expensive_reference());
  PairOptions few;
  few.min_pairs = few.max_pairs = 1;
  CHECK(evaluator.compare(problem.default_candidate(), problem.default_candidate(), few).ratio > 0);
  CHECK_THROWS_AS(
      (void)evaluator.compare(with_source(problem, right_at_first(12)), problem.default_candidate(), few),
      ConfigError);
  CHECK_THROWS_AS(
      (void)evaluator.compare(problem.default_candidate(), with_source(problem, right_at_first(12)), few),
      ConfigError);
}
