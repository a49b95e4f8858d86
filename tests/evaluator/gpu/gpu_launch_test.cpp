// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How a problem's kernels are launched: extents, steps, workspaces, symbols, name expressions.
#include "evaluator/gpu/support.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/kernel_launch.hpp"

using namespace gpu_test;

namespace {

// The sums of the rows of x, each by PARTS blocks and, if those are several, a second step.
DeviceProblem row_sums() {
  DeviceProblem problem;
  problem.function = "part";
  problem.kernel = R"(
template <int Unroll>
__device__ float sum(const float* x, int begin, int end) {
  float s = 0;
  for (int i = begin + threadIdx.x; i < end; i += blockDim.x * Unroll)
    for (int u = 0; u < Unroll; ++u)
      if (i + u * blockDim.x < end) s += x[i + u * blockDim.x];
  __shared__ float all[THREADS];
  all[threadIdx.x] = s;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) all[threadIdx.x] += all[threadIdx.x + half];
  }
  return all[0];
}
template <int Unroll>
__global__ void part(int n, int m, const float* x, float* partial, float* y) {
  const int row = blockIdx.x, p = blockIdx.y, each = (m + PARTS - 1) / PARTS;
  const float s = sum<Unroll>(x + row * m, p * each, min(m, (p + 1) * each));
  if (threadIdx.x == 0) (PARTS > 1 ? partial[row * PARTS + p] : y[row]) = s;
}
__global__ void finish(int n, const float* partial, float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float s = 0;
  for (int p = 0; p < PARTS; ++p) s += partial[row * PARTS + p];
  y[row] = s;
}
)";
  problem.arguments = R"([{"name": "n", "type": "i32"}, {"name": "m", "type": "i32"},
      {"name": "x", "type": "f32", "size": "n*m"},
      {"name": "partial", "type": "f32", "size": "n*PARTS", "role": "workspace"},
      {"name": "y", "type": "f32", "size": "n", "role": "out"}])";
  problem.shapes = R"([{"name": "narrow", "n": 5, "m": 3, "weight": 0}, {"name": "wide", "n": 3, "m": 600}])";
  problem.launch = R"([{"function": "part<${UNROLL}>", "grid": ["n", "PARTS"], "block": ["THREADS"]},
      {"function": "finish", "arguments": ["n", "partial", "y"], "grid": ["(n + 31) // 32"], "block": [32], "if": "PARTS > 1"}])";
  problem.reference = R"(
extern "C" __global__ void sums_reference(int n, int m, const real* x, real* y) {
  real s = 0;
  for (int i = 0; i < m; ++i) s += x[blockIdx.x * m + i];
  y[blockIdx.x] = s;
}
)";
  problem.reference_function = "sums_reference";
  problem.reference_launch = R"({"grid": ["n"], "block": [1]})";
  problem.more = R"(, "tunables": {"PARTS": [1, 2, 5], "THREADS": [32, 64], "UNROLL": [1, 4]})";
  return problem;
}

}  // namespace

TEST_CASE("GpuEvaluator: steps with conditions, templates by name, workspaces whose size is tuned") {
  Judge judge(row_sums());
  for (const std::uint32_t parts : {0u, 1u, 2u})
    for (const std::uint32_t unroll : {0u, 1u}) {
      CAPTURE(parts);
      const auto e = judge.config({parts, unroll, unroll});
      CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
      CHECK(e.features.find("shared_bytes") == (unroll == 0 ? 128.0 : 256.0));
    }
  // The second step is needed: without its condition holding for 2 parts, y stays as it was.
  DeviceProblem forgets = row_sums();
  forgets.launch.replace(forgets.launch.find("PARTS > 1"), 9, "PARTS > 2");
  const auto e = Judge(forgets).config({1, 0, 0});
  CHECK(e.verdict == Verdict::wrong_result);
  CHECK(contains(e.reason, "unwritten"));
}

TEST_CASE("GpuEvaluator: a workspace of no elements is a workspace") {
  DeviceProblem problem = row_sums();
  problem.arguments.replace(problem.arguments.find("n*PARTS"), 7, "n*PARTS if PARTS > 1 else 0");
  const auto e = Judge(problem).config({0, 0, 0});
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
}

TEST_CASE("GpuEvaluator: workspaces end where they say") {
  DeviceProblem problem = row_sums();
  Judge judge(problem);
  CHECK(judge.config({2, 0, 0}).verdict == Verdict::ok);
  // One element too many, also where an earlier candidate had a larger workspace.
  problem.kernel.replace(problem.kernel.find("if (threadIdx.x == 0) (PARTS"), 0,
                         "if (PARTS == 2 && row == n - 1 && p == 1) partial[n * PARTS] = 3;\n  ");
  Judge careless(problem);
  CHECK(careless.config({2, 0, 0}).verdict == Verdict::ok);
  const auto e = careless.config({1, 0, 0});
  CHECK(e.verdict == Verdict::cheated);
  CHECK_MESSAGE(contains(e.reason, "outside of its arrays: partial["), e.reason);
  CHECK_MESSAGE(contains(e.reason, "past the end of partial ("), e.reason);
  CHECK(careless.config({2, 0, 0}).verdict == Verdict::ok);
}

TEST_CASE("GpuEvaluator: workspaces hold no result of an earlier call") {
  DeviceProblem problem = row_sums();
  // Adds to what it finds, as if workspaces began as zeros.
  problem.kernel.replace(problem.kernel.find("y[row]) = s"), 11, "y[row]) += s");
  const auto e = Judge(problem).config({1, 0, 0});
  CHECK(e.verdict == Verdict::wrong_result);
}

TEST_CASE("GpuEvaluator: arrays that a step sets to zero") {
  DeviceProblem problem;
  problem.kernel =
      "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) atomicAdd(y + i, 2 * x[i]), atomicAdd(y + i, x[i] + 1);\n}\n";
  problem.launch = R"([{"zero": "y"}, {"function": "scale", "grid": ["(n + 63) // 64"], "block": [64]}])";
  Judge judge(problem);
  const auto e = judge.own();
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  problem.launch =
      R"([{"zero": "y", "if": "n < 100"}, {"function": "scale", "grid": ["(n + 63) // 64"], "block": [64]}])";
  CHECK(Judge(problem).own().verdict == Verdict::wrong_result);
  // Nothing but zeros, where that is right.
  problem.launch =
      R"([{"zero": "y"}, {"function": "scale", "grid": ["n"], "block": [1], "if": "not ONLY_ZERO"}])";
  problem.more = R"(, "tunables": {"ONLY_ZERO": [false, true]})";
  CHECK(Judge(problem).config({1}).verdict == Verdict::wrong_result);
  problem.reference.replace(problem.reference.find("3 * x[i] + 1"), 12, "0 * x[i]");
  const auto zeros = Judge(problem).config({1});
  CHECK_MESSAGE(zeros.verdict == Verdict::ok, zeros.reason);
  CHECK(!zeros.features.find("occupancy"));  // nothing was launched
}

TEST_CASE("GpuEvaluator: constants are copied before each call, and never passed") {
  DeviceProblem problem;
  problem.kernel =
      "__constant__ float c_factor[3];\n"
      "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = c_factor[i % 3] * x[i];\n}\n";
  problem.arguments =
      R"([{"name": "n", "type": "i32"}, {"name": "factor", "type": "f32", "size": 3, "symbol": "c_factor"},
      {"name": "x", "type": "f32", "size": "n"}, {"name": "y", "type": "f32", "size": "n", "role": "out"}])";
  problem.reference =
      "extern \"C\" __global__ void scale_reference(int n, const real* factor, const real* x, real* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = factor[i % 3] * x[i];\n}\n";
  Judge judge(problem);
  const auto e = judge.own();
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  const auto at = problem.kernel.find("c_factor[3]");
  std::string small = problem.kernel, missing = problem.kernel;
  small.replace(at, 11, "c_factor[2]");
  const auto too_small = judge.code(small);
  CHECK(too_small.verdict == Verdict::launch_failed);
  CHECK(contains(too_small.reason, "c_factor"));
  missing.replace(0, missing.find('\n'), "#define c_factor x");
  CHECK(judge.code(missing).verdict == Verdict::launch_failed);
  CHECK(judge.own().verdict == Verdict::ok);
}

TEST_CASE("GpuEvaluator: two and three dimensions, and dynamic shared memory") {
  DeviceProblem problem;
  problem.kernel = R"(
extern "C" __global__ void scale(int n, const float* x, float* y) {
  extern __shared__ float tile[];
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int i = block * 64 + thread;
  tile[63 - thread] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) y[i] = 3 * tile[63 - thread] + 1;
}
)";
  problem.launch = R"({"grid": ["3", "2", "(n + 383) // 384"], "block": [8, 4, 2], "shared_bytes": "4*64"})";
  const auto e = Judge(problem).own();
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  CHECK(e.features.find("shared_bytes") == 256.0);
}

TEST_CASE("GpuEvaluator: launches that cannot be are told from kernels that are wrong") {
  DeviceProblem problem;
  problem.more =
      R"(, "tunables": {"BLOCK": [128, 1024, 1025, 0], "SHARED": [0, 65536, 65537, 4000000], "GRID": [1, 0, 0.5, -1]})";
  problem.launch = R"({"grid": ["((n + 127) // 128) * GRID"], "block": ["BLOCK"], "shared_bytes": "SHARED"})";
  Judge judge(problem);
  const auto with = [&](std::uint32_t block, std::uint32_t shared, std::uint32_t grid) {
    return judge.config({block, shared, grid});
  };
  CHECK(with(0, 0, 0).verdict == Verdict::ok);
  CHECK(with(1, 0, 0).verdict == Verdict::ok);
  const auto threads = with(2, 0, 0);
  CHECK(threads.verdict == Verdict::launch_failed);
  CHECK(contains(threads.reason, "launching the kernel"));
  CHECK(contains(threads.reason, "a block of 1025 threads, and the device runs at most 1024"));
  CHECK(contains(with(0, 2, 0).reason, "65537 bytes of dynamic shared memory"));
  CHECK(with(0, 1, 0).verdict == Verdict::ok);
  CHECK(with(0, 2, 0).verdict == Verdict::launch_failed);
  CHECK(with(0, 3, 0).verdict == Verdict::launch_failed);
  for (const std::uint32_t grid : {1u, 3u}) {
    const auto e = with(0, 0, grid);
    CHECK(e.verdict == Verdict::rejected);
    CHECK(contains(e.reason, "the grid"));
    CHECK(contains(e.reason, "whole number from 1"));
  }
  CHECK(with(0, 0, 2).verdict == Verdict::rejected);
  const auto block = with(3, 0, 0);
  CHECK(block.verdict == Verdict::rejected);
  CHECK(contains(block.reason, "the block"));
  CHECK(with(0, 0, 0).verdict == Verdict::ok);
}

TEST_CASE("GpuEvaluator: a kernel is launched as its own text says") {
  DeviceProblem problem;
  problem.kernel =
      "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = (blockDim.x == WANTED ? 3 : 5) * x[i] + 1;\n"
      "}\n"
      "extern \"C\" __global__ void other(const float* x, int n, float* y) {\n"
      "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;\n"
      "}\n";
  problem.more = R"(, "tunables": {"WANTED": [128, 64]})";
  const Problem parsed = problem.parsed();
  Judge judge(problem);
  const auto with = [&](const std::string& launch, std::uint32_t wanted) {
    Kernel kernel = parsed.kernel;
    if (!launch.empty()) kernel.regions.macros = launch_line(launch);
    return judge.evaluator.evaluate({std::make_shared<const Kernel>(std::move(kernel)), Config{{wanted}}},
                                    {});
  };
  CHECK(with("", 0).verdict == Verdict::ok);
  CHECK(with("", 1).verdict == Verdict::wrong_result);
  const std::string own = R"({"grid": ["(n + 63) // 64"], "block": [64]})";
  CHECK(with(own, 0).verdict == Verdict::wrong_result);
  CHECK(with(own, 1).verdict == Verdict::ok);
  CHECK(with(R"({"grid": ["(n + WANTED - 1) // WANTED"], "block": ["WANTED"]})", 1).verdict == Verdict::ok);
  CHECK(with(R"([{"function": "other", "arguments": ["x", "n", "y"], "grid": [1], "block": [1]}])", 0)
            .verdict == Verdict::ok);
  const Evaluation unread = with(R"({"grid": ["m"], "block": [64]})", 0);
  CHECK(unread.verdict == Verdict::rejected);
  CHECK(contains(unread.reason, "its launch cannot be used: launch:1"));
}

TEST_CASE("GpuEvaluator: a workspace that is larger than the device fails to launch") {
  DeviceProblem problem = row_sums();
  problem.arguments.replace(problem.arguments.find("n*PARTS"), 7,
                            "n*PARTS if PARTS < 5 else n*PARTS*1000000000");
  Judge judge(problem);
  CHECK(judge.config({1, 0, 0}).verdict == Verdict::ok);
  const auto e = judge.config({2, 0, 0});
  CHECK(e.verdict == Verdict::launch_failed);
  CHECK(contains(e.reason, "not enough device memory"));
  // The same size as before once more: that buffer has gone.
  const auto next = judge.config({1, 0, 0});
  CHECK_MESSAGE(next.verdict == Verdict::ok, next.reason);
}

TEST_CASE("GpuEvaluator: buffers that do not fit are the device's fault, not the candidate's") {
  DeviceProblem problem;
  problem.shapes = R"([{"name": "huge", "n": 100000}])";
  const Setting little("MEMORY", "2000000");
  Judge judge(problem);
  CHECK_THROWS_AS((void)judge.own(), DeviceError);
}

TEST_CASE("GpuEvaluator: `valid` rejects before anything is built, and spares shapes that are only checked") {
  DeviceProblem problem;
  problem.more = R"(, "valid": "n % STEP == 0", "tunables": {"STEP": [1, 8, 3]})";
  problem.kernel = "#if STEP == 3\n#error never compiled\n#endif\n" + problem.kernel;
  Judge judge(problem);
  CHECK(judge.config({0}).verdict == Verdict::ok);
  const auto e = judge.config({2});
  CHECK(e.verdict == Verdict::rejected);
  CHECK(contains(e.reason, "large"));
  CHECK(judge.config({1}).verdict == Verdict::ok);  // 37 is not a multiple of 8, but counts for nothing
  // There the kernel is not even run.
  problem.kernel.replace(problem.kernel.find("3 * x[i]"), 8, "(n == 37 && STEP == 8 ? 0 : 3) * x[i]");
  Judge careless(problem);
  CHECK(careless.config({1}).verdict == Verdict::ok);
  problem.more.replace(problem.more.find("n % STEP == 0"), 13, "STEP != 3");
  Judge strict(problem);
  CHECK(strict.config({1}).verdict == Verdict::wrong_result);
}

TEST_CASE("GpuEvaluator: tunables reach the source and the flags") {
  DeviceProblem problem;
  problem.kernel =
      "static constexpr int order[] = ORDER;\n"
      "static_assert(order[0] == ORDER_0 && ORDER_0 + ORDER_1 == 1, \"\");\n"
      "#ifndef EXTRA\n#error the flag is missing\n#endif\n" +
      problem.kernel;
  problem.kernel.replace(problem.kernel.find("3 * x[i]"), 8, "(NEGATE ? -3 : FACTOR) * x[i]");
  problem.more = R"(, "tunables": {"FACTOR": [2, 3], "NEGATE": [false, true], "ORDER": {"permutation": 2},
      "FLAG": ["-DEXTRA", ""]}, "default": {"FACTOR": 3}, "build": {"compiler": "hiprtc", "flags": ["-std=c++17 ${FLAG}", "-O3"]})";
  Judge judge(problem);
  CHECK(judge.config({1, 0, 0, 0}).verdict == Verdict::ok);
  CHECK(judge.config({1, 0, 1, 0}).verdict == Verdict::ok);
  CHECK(judge.config({0, 0, 0, 0}).verdict == Verdict::wrong_result);
  CHECK(judge.config({1, 1, 0, 0}).verdict == Verdict::wrong_result);
  const auto missing = judge.config({1, 0, 0, 1});
  CHECK(missing.verdict == Verdict::build_failed);
  CHECK(contains(missing.reason, "the flag is missing"));
}

TEST_CASE("GpuEvaluator: problems that cannot be judged are misuse") {
  DeviceProblem host;
  host.backend = "host";
  CHECK_THROWS_AS(Judge{host}, Error);
  const auto judging = [](const DeviceProblem& problem) { (void)Judge(problem).own(); };
  DeviceProblem problem;
  problem.reference.replace(problem.reference.find("y[i] ="), 6, "y[i] = undeclared +");
  CHECK_THROWS_WITH_AS(judging(problem), doctest::Contains("the reference does not build"), ConfigError);
  problem = {};
  problem.reference.replace(problem.reference.find("if (i < n)"), 10, "if (i < n && i != 7)");
  CHECK_THROWS_WITH_AS(judging(problem), doctest::Contains("1 of y for shape small"), ConfigError);
  problem = {};
  problem.reference.replace(problem.reference.find("y[i] ="), 6, "y[i + (1 << 28)] =");
  CHECK_THROWS_WITH_AS(judging(problem), doctest::Contains("the reference fails"), ConfigError);
  problem = {};
  problem.reference_launch = R"({"grid": ["n"], "block": [2000]})";
  CHECK_THROWS_AS(judging(problem), ConfigError);
  problem = {};
  problem.reference_function = "no_such_reference";
  CHECK_THROWS_AS(judging(problem), ConfigError);
}

TEST_CASE("GpuEvaluator: without a reference the default configuration is one") {
  DeviceProblem problem;
  problem.reference.clear();
  problem.kernel.replace(problem.kernel.find("3 * x"), 1, "FACTOR");
  problem.more = R"(, "tunables": {"FACTOR": [3, 4]})";
  Judge judge(problem);
  const auto e = judge.config({0});
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  CHECK(judge.config({1}).verdict == Verdict::wrong_result);
  problem.kernel += "#error broken\n";
  Judge broken(problem);
  CHECK(broken.own().verdict == Verdict::build_failed);
}
