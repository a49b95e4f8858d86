// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/result_cache.hpp"

#include <doctest/doctest.h>

#include <set>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/cached.hpp"
#include "kernelsearch/evaluator/function_evaluator.hpp"
#include "support/small_kernel.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

static_assert(EvaluationCache<ResultCache>);

TEST_CASE("ResultCache: a later run finds what an earlier one measured, and it says so") {
  const TemporaryFolder folder;
  const auto kernel = small_kernel();
  const Candidate candidate{kernel, kernel->space.default_config()};
  Evaluation measured = Evaluation::succeeded(0.125);
  measured.provenance = "g++ -O3";
  {
    RunStore store(folder / "runs.db");
    ResultCache cache(store, {"problem", "cpu", "g++ 12"});
    CHECK_FALSE(cache.find(cache.key(candidate)).has_value());
    cache.insert(cache.key(candidate), measured);
  }
  RunStore store(folder / "runs.db");
  const ResultCache cache(store, {"problem", "cpu", "g++ 12"});
  const auto found = cache.find(cache.key(candidate));
  REQUIRE(found.has_value());
  CHECK(found->measurement.seconds == 0.125);
  CHECK(found->provenance.starts_with("reused, measured 20"));
  CHECK(found->provenance.ends_with(": g++ -O3"));
}

TEST_CASE("ResultCache: JSON provenance stays JSON") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  ResultCache cache(store, {"problem", "cpu", ""});
  Evaluation measured = Evaluation::succeeded(1);
  measured.provenance = R"({"flags":["-O3"]})";
  cache.insert("k", measured);
  const std::string provenance = cache.find("k")->provenance;
  CHECK(provenance.starts_with(R"({"flags":["-O3"],"reused_from":"20)"));
}

TEST_CASE("ResultCache: another problem, kernel, configuration, device or toolchain is another key") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const auto kernel = small_kernel();
  const Config at_default = kernel->space.default_config();
  const Config next = kernel->space.neighbours(at_default, Neighbourhood::hamming).front();
  const auto key = [&](ResultScope scope, const Candidate& candidate) {
    return ResultCache(store, std::move(scope)).key(candidate);
  };
  const std::set<std::string> keys{
      key({"p", "cpu", "g++"}, {kernel, at_default}),
      key({"q", "cpu", "g++"}, {kernel, at_default}),
      key({"p", "gpu", "g++"}, {kernel, at_default}),
      key({"p", "cpu", "clang++"}, {kernel, at_default}),
      key({"p", "cpu", "g++"}, {small_kernel("// other"), at_default}),
      key({"p", "cpu", "g++"}, {kernel, next}),
      key({"pc", "pu", "g++"}, {kernel, at_default}),
  };
  CHECK(keys.size() == 7);
  CHECK(keys.begin()->size() == 64);
  CHECK(key({"p", "cpu", "g++"}, {small_kernel(), at_default}) ==
        key({"p", "cpu", "g++"}, {kernel, at_default}));
  CHECK_THROWS_AS(ResultCache(store, {"p", "", "g++"}), ConfigError);
  CHECK_THROWS_AS(ResultCache(store, {"", "cpu", "g++"}), ConfigError);
}

TEST_CASE("ResultCache: what the machine or the moment may have caused is not kept") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  ResultCache cache(store, {"p", "cpu", "g++"});
  for (int v = 0; v < verdict_count; ++v) {
    const auto verdict = static_cast<Verdict>(v);
    Evaluation evaluation =
        verdict == Verdict::ok ? Evaluation::succeeded(1) : Evaluation::failed(verdict, "r");
    const bool kept = verdict == Verdict::ok || verdict == Verdict::rejected ||
                      verdict == Verdict::build_failed || verdict == Verdict::wrong_result ||
                      verdict == Verdict::cheated;
    cache.insert(std::to_string(v), evaluation);
    CHECK(cache.find(std::to_string(v)).has_value() == kept);
    CHECK(ResultCache::worth_keeping(evaluation) == kept);
  }
  Evaluation slower = Evaluation::succeeded(1);
  slower.measurement.shapes.resize(2);
  CHECK(ResultCache::worth_keeping(slower));
  slower.measurement.shapes[1].ended = SamplingEnd::slower;
  CHECK_FALSE(ResultCache::worth_keeping(slower));
}

TEST_CASE("ResultCache: it is the memory of Cached") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const auto kernel = small_kernel();
  int evaluations = 0;
  for (int run = 0; run < 2; ++run) {
    const auto cache = std::make_shared<ResultCache>(store, ResultScope{"p", "cpu", "g++"});
    Cached cached{FunctionEvaluator([&](const Candidate&) { return ++evaluations * 1.0; }),
                  [cache](const Candidate& candidate) { return cache->key(candidate); }, cache};
    const Evaluation evaluation = cached.evaluate(Candidate{kernel, kernel->space.default_config()}, {});
    CHECK(evaluation.measurement.seconds == 1.0);
  }
  CHECK(evaluations == 1);
}

TEST_CASE(
    "ResultCache: what was kept under the device's former name is found, and new results under the new one") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const auto kernel = small_kernel();
  const Candidate candidate{kernel, kernel->space.default_config()};
  ResultCache before(store, {"problem", "cpu, 2 cores", "g++ 12"});
  before.insert(before.key(candidate), Evaluation::succeeded(0.25));
  ResultCache now(store, {"problem", "cpu", "g++ 12", "cpu, 2 cores"});
  const auto found = now.find(now.key(candidate));
  REQUIRE(found.has_value());
  CHECK(found->measurement.seconds == 0.25);
  now.insert(now.key(candidate), Evaluation::succeeded(0.125));
  CHECK(now.find(now.key(candidate))->measurement.seconds == 0.125);
  const ResultCache later(store, {"problem", "cpu", "g++ 12"});
  REQUIRE(later.find(later.key(candidate)).has_value());
  CHECK(later.find(later.key(candidate))->measurement.seconds == 0.125);
  CHECK(before.find(before.key(candidate))->measurement.seconds == 0.25);
  const ResultCache other(store, {"problem", "cpu 2", "g++ 12", "cpu 2, 2 cores"});
  CHECK_FALSE(other.find(other.key(candidate)).has_value());
}
