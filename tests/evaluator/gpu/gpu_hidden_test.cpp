// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shapes that are drawn for each candidate, on the stand-in of HIP.
#include <map>
#include <set>

#include "evaluator/gpu/candidate_code.hpp"
#include "evaluator/gpu/hidden_shape_check.hpp"
#include "evaluator/gpu/support.hpp"

using namespace gpu_test;
using kernelsearch::detail::gpu::BuilderPool;
using kernelsearch::detail::gpu::HiddenShapeCheck;

namespace {

const std::string range_of_sizes = R"(, "hidden_shapes": {"ranges": {"n": [5, 900]}})";

DeviceProblem hidden_problem(const std::string& more = range_of_sizes) {
  DeviceProblem problem;
  problem.more = more;
  return problem;
}

/// Writes down its process and the size of each call.
std::string telling_sizes(const std::filesystem::path& file, const std::string& note) {
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
         "  void* file = fopen(\"" +
         file.string() +
         "\", \"a\");\n"
         "  fprintf(file, \"%d %d\\n\", getpid(), n);\n"
         "  fclose(file);\n"
         "}\n";
}

/// Right for the sizes that the problem lists, and for no other.
const std::string listed_only =
    "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = n == 37 || n == 1000 || i < n - 1 ? 3 * x[i] + 1 : 0;\n}\n";

std::string drawn_sizes(const Evaluation& evaluation) {
  const auto at = evaluation.provenance.find("; hidden shapes: ");
  return at == std::string::npos ? "" : evaluation.provenance.substr(at + 17);
}

}  // namespace

TEST_CASE("GPU hidden shapes: a kernel that is right on the listed sizes alone is wrong, and they are said") {
  Judge fixed(hidden_problem(R"(, "hidden_shapes": {"none": "this test has the listed sizes alone"})"));
  CHECK(fixed.code(listed_only).verdict == Verdict::ok);
  Judge judge(hidden_problem());
  const Evaluation wrong = judge.code(listed_only);
  CHECK(wrong.verdict == Verdict::wrong_result);
  CHECK_MESSAGE(contains(wrong.reason, "shape hidden n="), wrong.reason);
  CHECK(wrong.measurement.shapes.empty());
  const Evaluation next = judge.own();
  CHECK_MESSAGE(next.verdict == Verdict::ok, next.reason);
  GpuOptions without = quick();
  without.check.hidden_shapes = false;
  CHECK(Judge(hidden_problem(), without).code(listed_only).verdict == Verdict::ok);
}

TEST_CASE("GPU hidden shapes: each candidate has sizes of its own, in a process that sees no listed one") {
  const TemporaryFolder folder;
  Judge judge(hidden_problem());
  std::set<std::string> seen;
  for (int i = 0; i < 5; ++i) {
    const Evaluation e = judge.code(telling_sizes(folder / "told", std::to_string(i)));
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
    REQUIRE(e.measurement.shapes.size() == 1);
    CHECK(e.measurement.shapes[0].shape == "large");
    CHECK(contains(drawn_sizes(e), "n="));
    seen.insert(drawn_sizes(e));
  }
  CHECK(seen.size() == 5);
  std::map<int, std::set<int>> sizes;  // of each process
  std::ifstream in(folder / "told");
  for (int process = 0, n = 0; in >> process >> n;) sizes[process].insert(n);
  REQUIRE(sizes.size() == 2);
  const auto& first = sizes.begin()->second;
  const auto& second = std::next(sizes.begin())->second;
  const auto& timed = first.size() < second.size() ? first : second;
  const auto& hidden = first.size() < second.size() ? second : first;
  CHECK(timed == std::set<int>{37, 1000});
  CHECK(hidden.size() > 5);
  CHECK(!hidden.contains(37));
  CHECK(!hidden.contains(1000));
}

TEST_CASE("GPU hidden shapes: what breaks there has its verdict, and the next candidate a new process") {
  Judge judge(hidden_problem());
  const std::string start =
      "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 3 * x[i] + 1;\n";
  const struct {
    const char* code;
    Verdict verdict;
  } kernels[] = {
      {"  if (n != 37 && n != 1000 && i == 0) *(volatile int*)0 = 1;\n}\n", Verdict::crashed},
      {"  if (n != 37 && n != 1000 && i == 0) y[n] = 1;\n}\n", Verdict::cheated},
      {"  if (n != 37 && n != 1000 && i == 0) ((float*)x)[0] = 1;\n}\n", Verdict::cheated},
  };
  for (const auto& kernel : kernels) {
    const Evaluation e = judge.code(start + kernel.code);
    CHECK_MESSAGE(e.verdict == kernel.verdict, to_string(e.verdict) << ": " << e.reason);
    CHECK_MESSAGE(contains(e.reason, "shape hidden n="), e.reason);
    const Evaluation next = judge.own();
    CHECK_MESSAGE(next.verdict == Verdict::ok, next.reason);
  }
}

TEST_CASE("GPU hidden shapes: a size that `valid` refuses this candidate is not drawn for it") {
  DeviceProblem problem =
      hidden_problem(R"(, "tunables": {"STEP": [1, 64]}, "valid": "n in [37, 1000] or n % STEP == 0")"
                     R"(, "hidden_shapes": {"ranges": {"n": [1, 63]}})");
  Judge judge(problem);
  const Evaluation none = judge.config({1});
  CHECK_MESSAGE(none.verdict == Verdict::ok, none.reason);
  CHECK_MESSAGE(contains(none.provenance, "hidden shapes: none that `valid` accepts"), none.provenance);
  CHECK(contains(drawn_sizes(judge.config({0})), "n="));
}

TEST_CASE("GPU hidden shapes: where the reference is slow on them, later ones are smaller") {
  const Problem problem =
      hidden_problem(R"(, "hidden_shapes": {"count": 1, "ranges": {"n": [2000, 4000]}})").parsed();
  GpuOptions options = quick();
  GpuEvaluator evaluator(problem, options);
  const auto staged = evaluator.build(default_candidate(problem), {});
  REQUIRE(staged.artifact);
  BuilderPool builders(GpuBackend::hip, options);
  for (const bool slow : {true, false}) {
    options.check.hidden_seconds = slow ? 0 : 1e9;
    HiddenShapeCheck check(problem, options, evaluator.device(), 0, builders);
    const double before = check.limits().bytes;
    std::string note;
    const auto fault = check.check(*staged.artifact, note);
    CHECK_MESSAGE(!fault, fault->reason);
    CHECK(contains(note, "n="));
    CHECK(check.limits().bytes == (slow ? before / 2 : before));
  }
}
