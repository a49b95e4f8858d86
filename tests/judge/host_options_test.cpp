// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/judge/host_options.hpp"

#include <doctest/doctest.h>

#include "evaluator/host/support.hpp"
#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;
using support::judge;
using support::quick;

namespace {
const std::string plain =
    "extern \"C\" void scale(int n, const float* x, float* y) {\n"
    "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;\n}\n";
}

TEST_CASE("HostOptions: without a sandbox candidates run and are judged alike") {
  HostOptions options = quick();
  options.sandbox = Sandbox::none;
  const auto e = judge(plain, options);
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  CHECK(judge(support::read(support::sources / "hostile" / "forks.cpp"), options).verdict ==
        Verdict::cheated);
  CHECK(judge(support::read(support::sources / "hostile" / "reads_null.cpp"), options).verdict ==
        Verdict::crashed);
  CHECK(judge(support::read(support::sources / "hostile" / "wrong_signature.cpp"), options).verdict ==
        Verdict::build_failed);
}

TEST_CASE("HostOptions: cold caches") {
  HostOptions options = quick();
  options.cache = CacheMode::cold;
  const auto e = judge(plain, options);
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
}

TEST_CASE("HostOptions: clang compiles too") {
  std::string text = support::scale_problem(plain);
  text.replace(text.find("\"g++\""), 5, "\"clang++\"");
  if (!std::filesystem::exists("/usr/bin/clang++")) {
    MESSAGE("skipped: no clang++");
    return;
  }
  const Problem problem = parse_problem(text, support::sources);
  HostEvaluator evaluator(problem, quick());
  const auto e = evaluator.evaluate(support::default_candidate(problem), {});
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  CHECK(evaluator.toolchain_id().find("clang") != std::string::npos);
}

TEST_CASE("HostOptions: what cannot be had is said at once") {
  const Problem problem = parse_problem(support::scale_problem(plain), support::sources);
  HostOptions options = quick();
  options.core = 1000000;
  CHECK_THROWS_AS(HostEvaluator(problem, options), ConfigError);
  options = quick();
  options.worker = "/nowhere/kernelsearch-worker";
  CHECK_THROWS_AS(HostEvaluator(problem, options), ConfigError);
  options = quick();
  options.cache_directory = "/proc/nowhere";
  CHECK_THROWS_AS(HostEvaluator(problem, options), ConfigError);
}

TEST_CASE("HostOptions: an unknown compiler is a mistake of the problem") {
  std::string text = support::scale_problem(plain);
  text.replace(text.find("\"g++\""), 5, "\"no-such-compiler\"");
  const Problem problem = parse_problem(text, support::sources);
  HostEvaluator evaluator(problem, quick());
  CHECK_THROWS_AS((void)evaluator.build(support::default_candidate(problem), {}), ConfigError);
}

TEST_CASE("HostOptions: the number of sets follows the check options") {
  HostOptions options = quick();
  options.check = {.seeds = 1, .edge = false, .ill_conditioned = false};
  const auto few = judge(plain, options).provenance;
  options.check = {.seeds = 4, .edge = true, .ill_conditioned = true, .fresh_seconds = 100};
  const auto many = judge(plain, options).provenance;
  CHECK(many.size() > few.size() + 100);  // ten more seeds are written down
}
