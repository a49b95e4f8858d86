// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"

#include "evaluator/gpu/support.hpp"
#include "kernelsearch/core/error.hpp"
#include "support/approx.hpp"

using namespace gpu_test;
using kernelsearch::test::approx;

namespace {

// `scale` with this as its body after i is known.
std::string scale(const std::string& body, const std::string& before = {}) {
  return before +
         "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
         "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
         body + "\n}\n";
}

const std::string right = "  if (i < n) y[i] = 3 * x[i] + 1;";

}  // namespace

TEST_CASE("GpuEvaluator: a right kernel is ok, measured, and described") {
  Judge judge;
  const auto e = judge.own();
  REQUIRE_MESSAGE(e.verdict == Verdict::ok, e.reason);
  CHECK(e.progress == 1.0);
  REQUIRE(e.measurement.shapes.size() == 1);
  CHECK(e.measurement.shapes[0].shape == "large");
  CHECK(e.measurement.shapes[0].samples.size() >= 6);
  CHECK(e.measurement.seconds > 0);
  CHECK(!e.measurement.speedup);
  for (const char* feature :
       {"registers", "shared_bytes", "local_bytes", "blocks_per_multiprocessor", "occupancy",
        "nondeterministic", "image_bytes", "block_threads", "block_x", "block_y"})
    CHECK_MESSAGE(e.features.find(feature), feature);
  CHECK(e.features.find("registers") == 32.0);
  CHECK(e.features.find("blocks_per_multiprocessor") == 16.0);
  CHECK(e.features.find("occupancy") == 1.0);
  CHECK(e.features.find("nondeterministic") == 0.0);
  CHECK(contains(e.provenance, "hipRTC"));
  CHECK(judge.evaluator.busy_seconds() > 0);
  CHECK(judge.evaluator.lanes() == 1);
  CHECK(contains(judge.evaluator.device_id(), "Stand-in of a GPU"));
  CHECK(contains(judge.evaluator.toolchain_id(), "hipRTC"));
}

TEST_CASE(
    "GpuEvaluator: every failure has its verdict, and the next candidate is judged as if nothing had been") {
  GpuOptions options = quick();
  options.limits.call = 3;  // what is right must end within it on a loaded machine too
  Judge judge({}, options);
  const struct {
    const char* name;
    std::string code;
    Verdict verdict;
    std::vector<std::string> words;
  } kernels[] = {
      {"does not compile",
       scale("  y[i] = undeclared;\n"),
       Verdict::build_failed,
       {"device:3", "undeclared"}},
      {"has no such function",
       "extern \"C\" __global__ void scala(int) {}\n",
       Verdict::build_failed,
       {"scale"}},
      {"leaves its memory",
       scale("  if (i < n) y[i + (1 << 28)] = x[i];"),
       Verdict::crashed,
       {"illegal memory access"}},
      {"asserts", scale("  assert(n < 0);" + right), Verdict::crashed, {"assert"}},
      {"traps", scale("  if (i == 5) __trap();" + right), Verdict::crashed, {"719"}},
      {"never ends",
       scale("  while (*(volatile const float*)x < 100) {}" + right),
       Verdict::timed_out,
       {"did not finish"}},
      {"ends its process",
       scale("  _exit(3);", "extern \"C\" void _exit(int);\n"),
       Verdict::crashed,
       {"its process ended"}},
      {"kills its process",
       scale("  raise(9);", "extern \"C\" int raise(int);\n"),
       Verdict::crashed,
       {"process ended"}},
      {"is wrong",
       scale("  if (i < n) y[i] = 3 * x[i] + (i % 4 == 2 ? 2 : 1);"),
       Verdict::wrong_result,
       {"y[2] is ", "expected ", "within ", "24.3", "% of y wrong", "shape small", "declared inputs",
        "seed 0x"}},
      {"does nothing", scale(""), Verdict::wrong_result, {"37 elements of y unwritten", "shape small"}},
      {"is wrong where it is large",
       scale("  if (i < n) y[i] = 3 * x[i] + (i == 999 ? 2 : 1);"),
       Verdict::wrong_result,
       {"y[999]", "shape large"}},
      {"writes behind",
       scale(right + "  if (i == n) y[n] = 0;"),
       Verdict::cheated,
       {"it wrote outside of its arrays: y[37], past the end of y (37 elements) (shape small)"}},
      {"writes far behind",
       scale(right + "  if (i == 0) y[n + 300] = y[n + 5] = 0.3f;"),
       Verdict::cheated,
       {"it wrote outside of its arrays: y[42], past the end of y (37 elements) (shape small)"}},
      {"writes behind in its first call",
       scale(right + "  if (i == 0 && calls++ == 0) y[n + 3] = 0;", "__device__ int calls = 0;\n"),
       Verdict::cheated,
       {"it wrote outside of its arrays: y[40], past the end of y (37 elements) (shape small)"}},
      {"writes before",
       scale(right + "  if (i == 0) y[-1] = 0;"),
       Verdict::cheated,
       {"it wrote outside of its arrays: y[-1], before the beginning of y (37 elements) (shape small)"}},
      {"writes far before",
       scale(right + "  if (i == 0) y[-400] = y[-7] = 0.3f;"),
       Verdict::cheated,
       {"it wrote outside of its arrays: y[-7], before the beginning of y (37 elements) (shape small)"}},
      {"writes behind its input",
       scale(right + "  if (i == 0) ((float*)x)[n] = 0;"),
       Verdict::cheated,
       {"it wrote outside of its arrays: x[37], past the end of x (37 elements) (shape small)"}},
      {"changes its input",
       scale(right + "  if (i == 3) ((float*)x)[3] = 7;"),
       Verdict::cheated,
       {"changed its input x"}},
  };
  for (const auto& kernel : kernels) {
    CAPTURE(kernel.name);
    const Evaluation e = judge.code(kernel.code);
    CAPTURE(e.reason);
    CHECK_MESSAGE(e.verdict == kernel.verdict, to_string(e.verdict));
    for (const std::string& word : kernel.words) CHECK_MESSAGE(contains(e.reason, word), word);
    CHECK(e.overrun.has_value() == contains(e.reason, "outside of its arrays"));
    CHECK((!e.overrun || (e.overrun->index && e.overrun->elements == 37)));
    CHECK(e.progress < 1.0);
    CHECK(e.measurement.shapes.empty());
    const Evaluation next = judge.own();
    CHECK_MESSAGE(next.verdict == Verdict::ok, next.reason);
  }
}

TEST_CASE("GpuEvaluator: a share of right elements is progress") {
  Judge judge;
  const auto e = judge.code(scale("  if (i < n) y[i] = 3 * x[i] + (i % 4 == 2 ? 2 : 1);"));
  CHECK(e.progress == approx(0.5 + 0.25 * 28 / 37));
  const auto half = judge.code(scale("  if (i < n && i % 2 == 0) y[i] = 3 * x[i] + 1;"));
  CHECK(half.progress == approx(0.5 + 0.25 * 19 / 37));
}

TEST_CASE("GpuEvaluator: all outputs count for the share of right elements") {
  DeviceProblem problem;
  problem.kernel =
      "extern \"C\" __global__ void scale(int n, const float* x, float* y, float* z) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = 3 * x[i] + 1, z[i] = x[i];\n}\n";
  problem.reference =
      "extern \"C\" __global__ void scale_reference(int n, const real* x, real* y, real* z) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = 3 * x[i] + 1, z[i] = x[i];\n}\n";
  problem.arguments.insert(problem.arguments.rfind(']'),
                           R"(, {"name": "z", "type": "f32", "size": "n", "role": "out"})");
  Judge judge(problem);
  CHECK(judge.own().verdict == Verdict::ok);
  const struct {
    const char *from, *to, *name;
    double share;
  } wrongs[] = {{"z[i] = x[i]", "z[i] = 9", "z[0]", 0.5},
                {"y[i] = 3 * x[i] + 1", "y[i] = 9", "y[0]", 0.5},
                {"y[i] = 3 * x[i] + 1, z[i] = x[i]", "y[i] = z[i] = 9", "y[0]", 0.0}};
  for (const auto& wrong : wrongs) {
    std::string code = problem.kernel;
    code.replace(code.find(wrong.from), std::string(wrong.from).size(), wrong.to);
    const auto e = judge.code(code);
    CHECK(e.verdict == Verdict::wrong_result);
    CHECK(contains(e.reason, wrong.name));
    CHECK(e.progress == approx(0.5 + 0.25 * wrong.share));
  }
}
