// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is measured and when: several devices, incumbents, pairs, compiled code that is kept.
#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include "evaluator/gpu/support.hpp"
#include "kernelsearch/core/error.hpp"
#include "support/approx.hpp"

using namespace gpu_test;
using kernelsearch::test::approx;

namespace {

// The right kernel with a loop of so many rounds in it.
std::string slow(int rounds) {
  return "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
         "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  volatile int rest = " +
         std::to_string(rounds) +
         ";\n  while (rest > 0) rest = rest - 1;\n  if (i < n) y[i] = 3 * x[i] + 1;\n}\n";
}

}  // namespace

TEST_CASE("GpuEvaluator: equal devices are lanes of their own, and give the same verdicts") {
  const Setting two("DEVICES", "2");
  GpuOptions options = quick();
  options.devices = {1, 0};
  DeviceProblem given;
  given.kernel = "#if FACTOR == 9\n#error\n#endif\n" + given.kernel;
  given.kernel.replace(given.kernel.find("3 * x"), 1, "FACTOR");
  given.more = R"(, "tunables": {"FACTOR": [3, 4, 9]})";
  const Problem problem = given.parsed();
  GpuEvaluator evaluator(problem, options);
  CHECK(evaluator.lanes() == 2);
  const auto kernel = std::make_shared<const Kernel>(problem.kernel);
  const auto verdict = [&](std::uint32_t value) {
    return evaluator.evaluate({kernel, Config{{value}}}, {}).verdict;
  };
  std::vector<std::vector<Verdict>> got(3);
  std::vector<std::thread> threads;
  for (auto& list : got)
    threads.emplace_back([&] {
      for (const std::uint32_t value : {0u, 1u, 2u, 0u, 1u, 0u}) list.push_back(verdict(value));
    });
  for (auto& thread : threads) thread.join();
  const std::vector<Verdict> expected = {Verdict::ok, Verdict::wrong_result, Verdict::build_failed,
                                         Verdict::ok, Verdict::wrong_result, Verdict::ok};
  for (const auto& list : got) CHECK(list == expected);
}

TEST_CASE("GpuEvaluator: two candidates run on two devices at the same time") {
  const Setting two("DEVICES", "2");
  GpuOptions options = quick();
  options.devices = {0, 1};
  options.limits.call = 30;
  const Problem problem = DeviceProblem{}.parsed();
  GpuEvaluator evaluator(problem, options);
  // Each waits until the other has begun: a file of each process that only both together have.
  const std::string folder = (scratch() / "together").string();
  std::filesystem::create_directories(folder);
  const std::string code =
      "extern \"C\" int open(const char*, int, ...); extern \"C\" int access(const char*, int); extern \"C\" "
      "int usleep(unsigned);\n"
      "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i == 0) {\n    open(\"" +
      folder + "/\" MINE, 0101, 0600);\n    for (int tries = 0; access(\"" + folder +
      "/\" OTHER, 0) != 0 && tries < 20000; ++tries) usleep(1000);\n"
      "    if (access(\"" +
      folder + "/\" OTHER, 0) != 0) return;\n  }\n  if (i < n) y[i] = 3 * x[i] + 1;\n}\n";
  std::vector<Evaluation> results(2);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      const std::string names =
          i == 0 ? "#define MINE \"a\"\n#define OTHER \"b\"\n" : "#define MINE \"b\"\n#define OTHER \"a\"\n";
      results[i] = evaluator.evaluate(with_code(problem, names + code), {});
    });
  for (auto& thread : threads) thread.join();
  for (const Evaluation& e : results) CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
}

TEST_CASE("GpuEvaluator: devices that differ are refused") {
  GpuOptions options = quick();
  options.devices = {0, 5};
  CHECK_THROWS_AS(Judge({}, options), DeviceError);
}

TEST_CASE("GpuEvaluator: an incumbent that is far better ends check and sampling early") {
  GpuOptions options = quick();
  options.sampling = {.precision = 0.0, .min_samples = 1000, .max_samples = 100000, .budget_seconds = 20};
  Judge judge({}, options);
  EvaluationContext context;
  context.incumbent = 1e-9;
  const auto e = judge.code(slow(100), context);
  REQUIRE_MESSAGE(e.verdict == Verdict::ok, e.reason);
  CHECK(e.measurement.shapes[0].ended == SamplingEnd::slower);
  CHECK(e.measurement.shapes[0].samples.size() < 100);
  CHECK(e.measurement.seconds > 1e-9);
  // One right result is asked for all the same.
  CHECK(
      judge
          .code("extern \"C\" __global__ void scale(int n, const float* x, float* y) { y[threadIdx.x] = 5; }",
                context)
          .verdict != Verdict::ok);
  options.sampling.budget_seconds = 0;
  CHECK(Judge({}, options).own().measurement.shapes[0].ended == SamplingEnd::budget);
  options = quick();
  options.sampling = {.precision = 1e9, .min_samples = 6, .max_samples = 100, .budget_seconds = 20};
  CHECK(Judge({}, options).own().measurement.shapes[0].ended == SamplingEnd::converged);
}

TEST_CASE("GpuEvaluator: in a search the best so far counts even where its evaluations were not told of it") {
  GpuOptions options = quick();
  options.sampling = {.precision = 0.0, .min_samples = 24, .max_samples = 24, .budget_seconds = 20};
  Judge judge({}, options);
  EvaluationContext search;
  search.trial = TrialId{1};
  const auto samples = [&](int rounds, const EvaluationContext& context) {
    const Evaluation e = judge.code(slow(rounds), context);
    REQUIRE_MESSAGE(e.verdict == Verdict::ok, e.reason);
    return e.measurement.shapes[0].samples.size();
  };
  CHECK(samples(0, search) >= 24);
  search.trial = TrialId{2};
  CHECK(samples(100000, search) < 24);
  CHECK(samples(100000, {}) >= 24);  // a finalist is measured in full
}

TEST_CASE("GpuEvaluator: told to stop, it stops") {
  Judge judge;
  std::stop_source source;
  source.request_stop();
  EvaluationContext context;
  context.stop = source.get_token();
  CHECK(judge.code(DeviceProblem{}.kernel, context).verdict == Verdict::rejected);
}

TEST_CASE("GpuEvaluator: speedups come from interleaved pairs, and only for what would be the best") {
  GpuOptions options = quick();
  options.pairs = {
      .when = Pairing::improved, .min_pairs = 6, .max_pairs = 12, .precision = 0.5, .budget_seconds = 0.1};
  DeviceProblem given;
  given.kernel = slow(3000);
  Judge judge(given, options);
  const std::string fast = slow(0);
  const auto first = judge.code(fast);
  REQUIRE_MESSAGE(first.verdict == Verdict::ok, first.reason);
  REQUIRE(first.measurement.speedup);
  CHECK(first.measurement.speedup->ratio > 1.5);
  CHECK(first.measurement.speedup->interval.low <= first.measurement.speedup->ratio);
  CHECK(first.measurement.speedup->pairs >= 6);
  CHECK(first.measurement.shapes[0].speedup);
  EvaluationContext context;
  context.incumbent = 1e-9;
  CHECK(!judge.code(fast, context).measurement.speedup);
  const Problem& problem = judge.evaluator.problem();
  CHECK(judge.evaluator.compare(with_code(problem, fast), default_candidate(problem)).ratio > 1.5);
  CHECK(judge.evaluator.compare(default_candidate(problem), with_code(problem, fast)).ratio < 0.7);
  CHECK_THROWS_AS((void)judge.evaluator.compare(with_code(problem, "#error"), default_candidate(problem)),
                  ConfigError);
  CHECK_THROWS_AS((void)judge.evaluator.compare(
                      with_code(problem, "extern \"C\" __global__ void scale(int, const float*, float*) {}"),
                      default_candidate(problem)),
                  ConfigError);
  CHECK(judge.own().verdict == Verdict::ok);
}

TEST_CASE("GpuEvaluator: a baseline that fails costs the speedup, not the verdict") {
  GpuOptions options = quick();
  options.pairs.when = Pairing::always;
  DeviceProblem given;
  given.kernel = "#error broken\n";
  Judge broken(given, options);
  const auto e = broken.code(DeviceProblem{}.kernel);
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  CHECK(!e.measurement.speedup);
  given.kernel = DeviceProblem{}.kernel;
  given.more = R"(, "tunables": {"BLOCK": [2000, 128]})";
  given.launch = R"({"grid": ["(n + 127) // 128"], "block": ["BLOCK"]})";
  Judge cannot_launch(given, options);
  const auto other = cannot_launch.config({1});
  CHECK_MESSAGE(other.verdict == Verdict::ok, other.reason);
  CHECK(!other.measurement.speedup);
}

TEST_CASE("GpuEvaluator: after renew() everything is judged by fresh processes with the same verdicts") {
  Judge judge;
  CHECK(judge.own().verdict == Verdict::ok);
  // It works in its first call of a process only.
  const std::string once =
      "__device__ int calls;\nextern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n && calls == 0) y[i] = 3 * x[i] + "
      "1;\n"
      "  if (i == n - 1) ++calls;\n}\n";
  CHECK(judge.code(once).verdict == Verdict::wrong_result);
  judge.evaluator.renew();
  CHECK(judge.own().verdict == Verdict::ok);
  judge.evaluator.renew();
  judge.evaluator.renew();
  CHECK(judge.code(once).verdict == Verdict::wrong_result);
  CHECK(judge.own().verdict == Verdict::ok);
}

TEST_CASE("GpuEvaluator: shapes become one number as the problem says") {
  for (const bool geometric : {false, true}) {
    DeviceProblem given;
    given.shapes = R"([{"name": "small", "n": 37, "weight": 3}, {"name": "large", "n": 1000}])";
    if (geometric) given.more = R"(, "aggregate": "geometric_mean")";
    const auto e = Judge(given).own();
    REQUIRE(e.verdict == Verdict::ok);
    REQUIRE(e.measurement.shapes.size() == 2);
    const double a = e.measurement.shapes[0].median, b = e.measurement.shapes[1].median;
    CHECK(e.measurement.seconds == approx(geometric ? std::pow(a * a * a * b, 0.25) : 3 * a + b));
  }
}

TEST_CASE("GpuEvaluator: a kernel whose runs differ is named, and judged by what is right") {
  // Which thread comes first depends on nothing that it is told: the process's clock.
  const std::string code =
      "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = 3 * x[i] + 1 + 1e-6f * (float)(clock64() / 64 % 8);\n}\n";
  Judge judge;
  const auto e = judge.code(code);
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  CHECK(e.features.find("nondeterministic") == 1.0);
  CHECK(judge.own().features.find("nondeterministic") == 0.0);
  std::string wrong = code;
  wrong.replace(wrong.find("1e-6f"), 5, "1e-1f");
  CHECK(judge.code(wrong).verdict == Verdict::wrong_result);
}

TEST_CASE("GpuEvaluator: faster than the device can be is cheating") {
  DeviceProblem given;
  given.more = R"(, "operations": "10**18")";
  const auto operations = Judge(given).own();
  CHECK(operations.verdict == Verdict::cheated);
  CHECK(contains(operations.reason, "faster than the device can be"));
  given.more = R"(, "bytes": "10**15")";
  CHECK(Judge(given).own().verdict == Verdict::cheated);
  given.more = R"(, "operations": "2*n", "bytes": "8*n")";
  CHECK(Judge(given).own().verdict == Verdict::ok);
}

TEST_CASE("GpuEvaluator: compiled code is kept on disk by content, and built by several threads at once") {
  GpuOptions options = quick();
  options.cache_directory = scratch() / "own cache";
  const Problem problem = DeviceProblem{}.parsed();
  const Candidate candidate = default_candidate(problem);
  const auto count = [&] {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(options.cache_directory))
      files += entry.is_regular_file();
    return files;
  };
  {
    GpuEvaluator evaluator(problem, options);
    std::vector<std::thread> threads;
    std::vector<Staged<GpuArtifact>> staged(4);
    for (auto& one : staged) threads.emplace_back([&] { one = evaluator.build(candidate, {}); });
    for (auto& thread : threads) thread.join();
    for (const auto& one : staged) {
      REQUIRE(one.artifact);
      CHECK(one.artifact->functions.size() == 1);
    }
    CHECK(evaluator.run(std::move(staged[0]), {}).verdict == Verdict::ok);
    CHECK(contains(evaluator.build(candidate, {}).evaluation.provenance, "compiled earlier"));
    const std::size_t before = count();
    CHECK(evaluator.build(with_code(problem, "#error\n"), {}).evaluation.verdict == Verdict::build_failed);
    CHECK(count() == before);  // what does not build is not kept
    CHECK(evaluator.build(with_code(problem, slow(1)), {}).artifact);
    CHECK(count() == before + 1);
  }
  GpuEvaluator later(problem, options);
  auto found = later.build(candidate, {});
  CHECK(contains(found.evaluation.provenance, "compiled earlier"));
  REQUIRE(found.artifact);
  CHECK(later.run(std::move(found), {}).verdict == Verdict::ok);
  // Files that were damaged are as good as none.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(options.cache_directory))
    if (entry.is_regular_file())
      std::filesystem::resize_file(entry.path(), std::filesystem::file_size(entry.path()) / 2);
  GpuEvaluator repaired(problem, options);
  const auto e = repaired.evaluate(candidate, {});
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  CHECK(!contains(e.provenance, "compiled earlier"));
}

TEST_CASE("GpuEvaluator: a compiler that takes too long is stopped and replaced") {
  GpuOptions options = quick();
  options.builders = 1;
  Judge judge({}, options);
  REQUIRE(judge.own().verdict == Verdict::ok);
  options.limits.build = 1;
  Judge hurried({}, options);
  const auto e = hurried.code(
      "template <int D, long I> struct Tree { static constexpr long value = Tree<D - 1, 2 * I>::value + "
      "Tree<D - 1, 2 * I + 1>::value; };\ntemplate <long I> struct Tree<0, I> { static constexpr long value "
      "= I; };\n"
      "extern \"C\" __global__ void scale(int, const float*, float* y) { y[0] = Tree<40, 1>::value; }\n");
  CHECK(e.verdict == Verdict::timed_out);
  CHECK(contains(e.reason, "compiler"));
  CHECK(e.progress == 0.0);
  const auto next = hurried.own();
  CHECK_MESSAGE(next.verdict == Verdict::ok, next.reason);
}

TEST_CASE("GpuEvaluator: it can be moved") {
  const Problem problem = DeviceProblem{}.parsed();
  GpuEvaluator first(problem, quick());
  CHECK(first.evaluate(default_candidate(problem), {}).verdict == Verdict::ok);
  GpuEvaluator second(std::move(first));
  CHECK(second.evaluate(default_candidate(problem), {}).verdict == Verdict::ok);
  CHECK(second.problem().name == problem.name);
  CHECK(second.options().builders == 2);
}
