// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which contents the processes of candidates are shown. Kernels run on the processor here, so that they can
// write down the process and what they were given.
#include <map>
#include <set>

#include "evaluator/gpu/support.hpp"

using namespace gpu_test;

namespace {

/// Writes a line for each call: process, size and a hash of x. `note` makes two kernels differ.
std::string telling(const std::filesystem::path& file, const std::string& note) {
  return "// " + note +
         "\n"
         "extern \"C\" void* fopen(const char*, const char*);\n"
         "extern \"C\" int fprintf(void*, const char*, ...);\n"
         "extern \"C\" int fclose(void*);\n"
         "extern \"C\" int getpid();\n"
         "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
         "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i < n) y[i] = 3 * x[i] + 1;\n"
         "  if (i != 0) return;\n"
         "  unsigned long long hash = 1;\n"
         "  for (int j = 0; j < n; ++j) hash = (hash ^ (unsigned)__float_as_int(x[j])) * 1099511628211ull;\n"
         "  void* file = fopen(\"" +
         file.string() +
         "\", \"a\");\n"
         "  fprintf(file, \"%d %d %llu\\n\", getpid(), n, hash);\n"
         "  fclose(file);\n"
         "}\n";
}

struct Told {
  int process, size;
  unsigned long long contents;
  auto operator<=>(const Told&) const = default;
};

std::map<Told, int> told(const std::filesystem::path& file) {
  std::map<Told, int> counts;
  std::ifstream in(file);
  for (Told one{}; in >> one.process >> one.size >> one.contents;) ++counts[one];
  return counts;
}

/// Judges `count` kernels of a search, one after another.
void judge_some(Judge& judge, const std::filesystem::path& file, int count, double& verified) {
  for (int k = 0; k < count; ++k) {
    EvaluationContext context;
    context.trial = TrialId{static_cast<std::uint64_t>(k + 1)};
    const Evaluation e = judge.code(telling(file, std::to_string(k)), context);
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
    const auto calls = e.features.find("verified_calls");
    REQUIRE(calls);
    verified += *calls;
  }
}

DeviceProblem problem_of_size(int n) {
  DeviceProblem problem;
  problem.shapes = R"([{"name": "large", "n": )" + std::to_string(n) + "}]";
  return problem;
}

GpuOptions thorough() {
  GpuOptions options = quick();
  options.sampling = {.precision = 0, .min_samples = 6, .max_samples = 40, .budget_seconds = 30};
  return options;
}

}  // namespace

TEST_CASE("GpuEvaluator: a process is shown no contents twice, whichever candidate runs in it") {
  for (const int n : {700, 3000}) {  // drawn for each call; turned
    CAPTURE(n);
    const TemporaryFolder folder;
    const auto file = folder / "told";
    Judge judge(problem_of_size(n), thorough());
    double verified = 0;
    judge_some(judge, file, 4, verified);
    CHECK(verified >= 4);
    const auto counts = told(file);
    std::set<int> processes;
    int calls = 0, twice = 0;
    for (const auto& [one, count] : counts) {
      processes.insert(one.process);
      calls += count;
      CHECK(count <= 2);
      twice += count == 2 ? 1 : 0;
    }
    CHECK(processes.size() == 1);
    CHECK(calls >= 4 * (5 + 6));
    // Once for each candidate, whose results two runs must agree on; not for one that the load of the machine
    // makes look slower than the first beyond doubt, which is checked in part.
    CHECK(twice >= 1);
    CHECK(twice <= 4);
  }
}

TEST_CASE("GpuEvaluator: sets of a slow reference are drawn once, and each process is shown one once") {
  DeviceProblem problem = problem_of_size(50);
  problem.reference =
      "extern \"C\" __global__ void scale_reference(int n, const real* x, real* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  const long long begin = clock64();\n"
      "  if (i == 0) while (clock64() - begin < 300000000) {\n  }\n"
      "  if (i < n) y[i] = 3 * x[i] + 1;\n"
      "}\n";
  const TemporaryFolder folder;
  const auto file = folder / "told";
  GpuOptions options = thorough();
  options.check.edge = options.check.ill_conditioned = false;
  options.sampling.max_samples = 12;
  Judge judge(problem, options);
  double verified = 0;
  constexpr int candidates = 14;
  judge_some(judge, file, candidates, verified);
  CHECK(verified >= 1);
  const auto counts = told(file);
  std::set<int> processes;
  std::map<unsigned long long, std::set<int>> shown;  // to which processes
  for (const auto& [one, count] : counts) {
    processes.insert(one.process);
    shown[one.contents].insert(one.process);
    CHECK(count <= 2);
  }
  CHECK(processes.size() >= 2);
  CHECK(processes.size() < candidates);
  const auto again = std::count_if(shown.begin(), shown.end(),
                                   [](const auto& contents) { return contents.second.size() > 1; });
  CHECK(again >= 2);
}

TEST_CASE("GpuEvaluator: finalists have more timed calls verified than candidates of a search") {
  const TemporaryFolder folder;
  Judge judge(problem_of_size(500), thorough());
  EvaluationContext search;
  search.trial = TrialId{1};
  const auto verified = [&](const EvaluationContext& context) {
    const Evaluation e = judge.code(DeviceProblem{}.kernel, context);
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
    return e.features.find("verified_calls").value_or(0);
  };
  const double finalist = verified({}), searched = verified(search);
  CHECK(searched >= 1);
  CHECK(finalist > searched);
  CHECK(finalist >= 20);  // half of 40
}

TEST_CASE("GpuEvaluator: both sides of a comparison are verified in their timed calls") {
  // Each is right while it is checked, five calls, and in three of its pairs' calls.
  const auto tiring = [](int calls) {
    return "__device__ int calls[16];\n"
           "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
           "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "  __shared__ bool tired;\n"
           "  if (threadIdx.x == 0) tired = calls[blockIdx.x]++ >= " +
           std::to_string(calls) +
           ";\n"
           "  __syncthreads();\n"
           "  if (i < n) y[i] = tired ? 7 : 3 * x[i] + 1;\n"
           "}\n";
  };
  const Problem problem = problem_of_size(500).parsed();
  GpuOptions options = quick();
  GpuEvaluator evaluator(problem, options);
  const Candidate honest = default_candidate(problem), lazy = with_code(problem, tiring(8));
  CHECK(evaluator.compare(honest, with_code(problem, tiring(1 << 30))).pairs > 0);
  CHECK_THROWS_WITH((void)evaluator.compare(lazy, honest), doctest::Contains("in a timed call"));
  CHECK_THROWS_WITH((void)evaluator.compare(honest, lazy), doctest::Contains("in a timed call"));
}
