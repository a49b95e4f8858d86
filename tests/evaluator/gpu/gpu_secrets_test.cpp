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
         "  unsigned long long hash = 1;\n"  // the same in any order: contents that are turned are no new ones
         "  for (int j = 0; j < n; ++j) {\n"
         "    const unsigned long long k = (unsigned)__float_as_int(x[j]) * 0x9e3779b97f4a7c15ull;\n"
         "    hash += (k ^ k >> 31) * 0xbf58476d1ce4e5b9ull;\n"
         "  }\n"
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

/// A reference that takes so many microseconds and writes down each of its runs.
std::string slow_reference(int microseconds, const std::filesystem::path& file = "/dev/null") {
  return "extern \"C\" void* fopen(const char*, const char*);\n"
         "extern \"C\" int fputs(const char*, void*);\n"
         "extern \"C\" int fclose(void*);\n"
         "extern \"C\" int usleep(unsigned);\n"
         "extern \"C\" __global__ void scale_reference(int n, const real* x, real* y) {\n"
         "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i == 0) {\n    usleep(" +
         std::to_string(microseconds) + ");\n    void* file = fopen(\"" + file.string() +
         "\", \"a\");\n    fputs(\"run\\n\", file);\n    fclose(file);\n  }\n"
         "  if (i < n) y[i] = 3 * x[i] + 1;\n"
         "}\n";
}

/// The same kernel, so many tenths of a millisecond slower.
std::string waiting(std::string code, int tenths) {
  code.insert(code.find("  if (i < n) y[i]"),
              "  if (i == 0) usleep(" + std::to_string(100 * tenths) + ");\n");
  return "extern \"C\" int usleep(unsigned);\n" + code;
}

/// Judges kernels of a search that all take 2 ms, so that none seems so slow that it is looked at for a
/// moment only. `done`: whether there were enough of them. Returns how many of their timed calls were
/// verified.
template <class Done>
double judge_equal_ones(Judge& judge, const std::filesystem::path& file, int most, const Done& done) {
  double verified = 0;
  for (int k = 0; k < most && !done(); ++k) {
    EvaluationContext context;
    context.trial = TrialId{static_cast<std::uint64_t>(k + 1)};
    const Evaluation e = judge.code(waiting(telling(file, std::to_string(k)), 20), context);
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
    const auto calls = e.features.find("verified_calls");
    REQUIRE(calls);
    verified += *calls;
  }
  return verified;
}
double judge_equal_ones(Judge& judge, const std::filesystem::path& file, int count) {
  return judge_equal_ones(judge, file, count, [] { return false; });
}

std::size_t lines_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::size_t lines = 0;
  for (std::string line; std::getline(in, line);) ++lines;
  return lines;
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
  for (const int n : {700, 3000}) {
    CAPTURE(n);
    const TemporaryFolder folder;
    const auto file = folder / "told";
    Judge judge(problem_of_size(n), thorough());
    CHECK(judge_equal_ones(judge, file, 4) >= 4);
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
  problem.reference = slow_reference(100000);
  const TemporaryFolder folder;
  const auto file = folder / "told";
  GpuOptions options = thorough();
  options.check.edge = options.check.ill_conditioned = false;
  options.sampling.max_samples = 12;
  Judge judge(problem, options);
  constexpr int candidates = 14;
  CHECK(judge_equal_ones(judge, file, candidates) >= 1);
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
  EvaluationContext search;
  search.trial = TrialId{1};
  double finalist = 0, searched = 0;
  // Once, but on a loaded machine the reference may look dear, or the second slower than the first beyond
  // doubt; then nothing of a search is verified, as it should be.
  for (int attempt = 0; attempt < 5 && searched == 0; ++attempt) {
    Judge judge(problem_of_size(500), thorough());
    const auto verified = [&](const EvaluationContext& context) {
      const Evaluation e = judge.code(DeviceProblem{}.kernel, context);
      CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
      return e.features.find("verified_calls").value_or(0);
    };
    finalist = verified({});
    searched = verified(search);
  }
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

namespace {

/// Of a problem whose reference takes 3 ms for each of four sets: candidates of a search take turns in three
/// processes.
DeviceProblem problem_in_turns(const std::filesystem::path& runs = "/dev/null") {
  DeviceProblem problem = problem_of_size(3000);
  problem.reference = slow_reference(3000, runs);
  return problem;
}

GpuOptions in_turns(std::size_t processes = 3) {
  GpuOptions options = thorough();
  options.check.seeds = 4;
  options.check.edge = options.check.ill_conditioned = false;
  options.processes = processes;
  return options;
}

/// The same until so many processes have had a candidate: they are started while the first one works.
void judge_until(Judge& judge, const std::filesystem::path& file, std::size_t processes) {
  judge_equal_ones(judge, file, 60, [&] {
    std::set<int> seen;
    for (const auto& [one, count] : told(file)) seen.insert(one.process);
    return seen.size() >= processes;
  });
}

std::map<unsigned long long, std::set<int>> processes_by_contents(const std::map<Told, int>& counts) {
  std::map<unsigned long long, std::set<int>> shown;
  for (const auto& [one, count] : counts) shown[one.contents].insert(one.process);
  return shown;
}

}  // namespace

TEST_CASE("GpuEvaluator: candidates take turns in processes that are shown the same contents, each once") {
  const TemporaryFolder folder;
  std::size_t alone = 0;
  for (const std::size_t most : {1, 3}) {
    CAPTURE(most);
    const auto file = folder.path() / ("told" + std::to_string(most)),
               runs = folder.path() / ("runs" + std::to_string(most));
    GpuOptions options = in_turns(most);
    options.verification.search_seconds = 10;  // a quarter of the timed calls
    Judge judge(problem_in_turns(runs), options);
    judge_until(judge, file, most);
    const std::size_t before = lines_of(runs);
    judge_equal_ones(judge, file, 6);
    const std::size_t solved = lines_of(runs) - before;
    const auto counts = told(file);
    std::set<int> processes;
    for (const auto& [one, count] : counts) {
      processes.insert(one.process);
      CHECK(count <= 2);  // the first set of a check is run twice
    }
    CHECK(processes.size() == most);
    if (most == 1) {
      alone = solved;
      CHECK(alone >= 6 * 4);
      continue;
    }
    // Sets of checks and of timed calls alike; if either of them were solved for each process it were more.
    CHECK(solved < alone * 11 / 20);
    const auto shown = processes_by_contents(counts);
    const auto shown_to = [&](std::size_t wanted) {
      return std::count_if(shown.begin(), shown.end(),
                           [&](const auto& one) { return one.second.size() == wanted; });
    };
    CHECK(shown_to(3) >= 6);
    CHECK(shown_to(1) > 6 * 20);  // what is not verified is no process's but one's
  }
}

TEST_CASE("GpuEvaluator: a finalist is shown nothing that another candidate was shown") {
  const TemporaryFolder folder;
  Judge judge(problem_in_turns(), in_turns());
  judge_until(judge, folder / "searched", 3);
  const auto evaluated = [&](const char* name) {
    const Evaluation e = judge.code(telling(folder / name, name));
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
    return processes_by_contents(told(folder / name));
  };
  const auto searched = processes_by_contents(told(folder / "searched")), before = evaluated("before");
  judge.evaluator.renew();
  const auto after = evaluated("after");
  CHECK(before.size() >= 4 + 40);
  CHECK(after.size() >= 4 + 40);
  for (const auto& [contents, processes] : before) CHECK(!searched.contains(contents));
  std::set<int> used;
  for (const auto& [contents, processes] : searched) used.insert(processes.begin(), processes.end());
  for (const auto& [contents, processes] : after) {
    CHECK(!searched.contains(contents));
    CHECK(!before.contains(contents));
    CHECK(!used.contains(*processes.begin()));  // a process that no candidate had run in
  }
}

TEST_CASE("GpuEvaluator: contents whose values a reason tells are not shown to another process") {
  const TemporaryFolder folder;
  Judge judge(problem_in_turns(), in_turns());
  judge_until(judge, folder / "first", 3);
  // Wrong in its first call only, so that it is known which contents the reason is of.
  std::string wrong = telling(folder / "wrong", "wrong");
  wrong.insert(wrong.find("extern \"C\" __global__"), "__device__ int calls;\n");
  wrong.replace(wrong.find("3 * x[i] + 1"), 12, "3 * x[i] + (calls == 0 ? 2 : 1)");
  wrong.replace(wrong.find("  if (i != 0) return;"), 21,
                "  if (i == n - 1) calls = 1;\n  if (i != 0) return;");
  EvaluationContext search;
  search.trial = TrialId{2};
  const Evaluation e = judge.code(wrong, search);
  CHECK(e.verdict == Verdict::wrong_result);
  CHECK_MESSAGE(contains(e.reason, "seed 0x"), e.reason);
  Told first{};
  std::ifstream(folder / "wrong") >> first.process >> first.size >> first.contents;
  const auto of_wrong = processes_by_contents(told(folder / "wrong"));
  CHECK(of_wrong.contains(first.contents));
  // Until others of its contents come again in another process.
  const auto come_again = [&] {
    const auto later = processes_by_contents(told(folder / "later"));
    return std::any_of(later.begin(), later.end(), [&](const auto& one) {
      return one.first != first.contents && of_wrong.contains(one.first);
    });
  };
  judge_equal_ones(judge, folder / "later", 20, come_again);
  CHECK(come_again());
  judge_equal_ones(judge, folder / "later", 3);
  CHECK(!processes_by_contents(told(folder / "later")).contains(first.contents));
}

TEST_CASE("GpuEvaluator: of contents that are kept for every process no reason tells the seed") {
  DeviceProblem problem = problem_of_size(50);
  problem.reference = slow_reference(30000);
  GpuOptions options = quick();
  options.check.edge = options.check.ill_conditioned = false;
  Judge judge(problem, options);
  std::string wrong = DeviceProblem{}.kernel;
  wrong.replace(wrong.find("+ 1"), 3, "+ 2");
  const Evaluation e = judge.code(wrong);
  CHECK(e.verdict == Verdict::wrong_result);
  CHECK_MESSAGE(contains(e.reason, "declared inputs, which are secret"), e.reason);
  CHECK_MESSAGE(!contains(e.reason, "seed"), e.reason);
}
