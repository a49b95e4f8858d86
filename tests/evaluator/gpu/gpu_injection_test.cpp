// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Every function of the driver fails once at every place where the evaluator calls it.
#include <set>

#include "evaluator/gpu/support.hpp"
#include "kernelsearch/core/error.hpp"

using namespace gpu_test;

namespace {

constexpr const char* functions[] = {"hipInit",
                                     "hipDriverGetVersion",
                                     "hipGetDeviceCount",
                                     "hipDeviceGet",
                                     "hipDeviceGetName",
                                     "hipDeviceGetAttribute",
                                     "hipDeviceGetPCIBusId",
                                     "hipDeviceTotalMem",
                                     "hipSetDevice",
                                     "hipDeviceSynchronize",
                                     "hipMemGetInfo",
                                     "hipMalloc",
                                     "hipFree",
                                     "hipMemcpyHtoD",
                                     "hipMemcpyDtoH",
                                     "hipMemcpyDtoDAsync",
                                     "hipMemsetD8Async",
                                     "hipHostRegister",
                                     "hipStreamCreateWithFlags",
                                     "hipStreamSynchronize",
                                     "hipEventCreateWithFlags",
                                     "hipEventRecord",
                                     "hipEventElapsedTime",
                                     "hipModuleLoadData",
                                     "hipModuleUnload",
                                     "hipModuleGetFunction",
                                     "hipModuleGetGlobal",
                                     "hipFuncGetAttribute",
                                     "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
                                     "hipModuleLaunchKernel"};
constexpr int codes[] = {1, 2, 100, 200, 500, 700, 701, 719, 801, 999};

// With a symbol, a step that sets an array to zero and a workspace, so that every function is called.
DeviceProblem everything() {
  DeviceProblem problem;
  problem.function = "add";
  problem.kernel =
      "__constant__ float c_factor[1];\n"
      "extern \"C\" __global__ void add(int n, const float* x, float* w, float* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) w[i] = x[i] * c_factor[0], y[i] += w[i];\n"
      "}\n"
      "extern \"C\" __global__ void leave(int n, const float* x, float* w, float* y) { *(volatile int*)0 = "
      "1; }\n";
  problem.arguments = R"([{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
      {"name": "factor", "type": "f32", "size": 1, "symbol": "c_factor"},
      {"name": "w", "type": "f32", "size": "n", "role": "workspace"},
      {"name": "y", "type": "f32", "size": "n", "role": "out"}])";
  problem.shapes = R"([{"name": "only", "n": 70}])";
  problem.launch = R"([{"function": "leave", "grid": [1], "block": [1], "if": "LEAVE"}, {"zero": "y"},
                       {"function": "add", "grid": [1], "block": [128]}])";
  problem.reference =
      "extern \"C\" __global__ void scale_reference(int n, const real* x, const real* factor, real* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = x[i] * factor[0];\n"
      "}\n";
  problem.more = R"(, "tunables": {"LEAVE": [false, true]})";
  return problem;
}

GpuOptions least() {
  GpuOptions options = quick();
  options.check.seeds = 1;
  options.check.edge = options.check.ill_conditioned = false;
  options.sampling = {.precision = 1, .min_samples = 6, .max_samples = 6, .budget_seconds = 0};
  return options;
}

// Whether a right candidate is called right; if not, that it is not called wrong either.
bool fine(Judge& judge, std::set<Verdict>* seen = nullptr) {
  try {
    const Evaluation e = judge.own();
    CAPTURE(e.reason);
    CHECK(e.reason.empty() == (e.verdict == Verdict::ok));
    CHECK(e.verdict != Verdict::wrong_result);
    CHECK(e.verdict != Verdict::cheated);
    if (e.verdict != Verdict::ok && seen != nullptr) seen->insert(e.verdict);
    return e.verdict == Verdict::ok;
  } catch (const Error&) {
    return false;
  }
}

std::string plan(const char* function, int call, int code) {
  return std::string(function) + ":" + std::to_string(call) + ":" + std::to_string(code);
}

}  // namespace

TEST_CASE("GpuEvaluator: whatever fails in a candidate's process becomes a verdict or a DeviceError, once") {
  Judge judge(everything(), least());
  REQUIRE(judge.own().verdict == Verdict::ok);
  std::set<Verdict> seen;
  int failures = 0, turn = 0;
  for (const char* function : functions)
    for (const int call : {1, 4, 13}) {
      const std::string planned =
          plan(function, call, codes[static_cast<std::size_t>(turn++) % std::size(codes)]);
      CAPTURE(planned);
      // So that the next process has the plan; twice, where the one before still had its own before it.
      if (judge.config({1}).verdict != Verdict::crashed)
        REQUIRE(judge.config({1}).verdict == Verdict::crashed);
      const Setting fail("FAIL", planned);
      int failed = 0;
      for (int candidate = 0; candidate < 2 && failed == 0; ++candidate) failed += !fine(judge, &seen);
      failures += failed;
      unsetenv("KERNELSEARCH_STANDIN_FAIL");  // a process that was not started with the plan
      if (failed > 0) CHECK(fine(judge));
    }
  CHECK(failures > 30);
  CHECK(seen == std::set<Verdict>{Verdict::launch_failed, Verdict::crashed});
}

TEST_CASE(
    "GpuEvaluator: whatever fails in the referee's process is an error that the next candidate does not "
    "feel") {
  int failures = 0, turn = 0;
  for (const char* function : functions)
    for (const int call : {1, 4}) {
      if ((turn++ + call) % 4 == 0) continue;
      const std::string planned = plan(function, call, turn % 3 == 0 ? 700 : 2);
      CAPTURE(planned);
      Judge judge(everything(), least());
      const Setting fail("FAIL", planned);
      int failed = 0;
      for (int candidate = 0; candidate < 2 && failed == 0; ++candidate) failed += !fine(judge);
      failures += failed;
      unsetenv("KERNELSEARCH_STANDIN_FAIL");
      if (failed == 0) continue;
      // The candidate's process may have the plan still before it.
      CHECK((fine(judge) || fine(judge) || fine(judge)));
      CHECK(fine(judge));
    }
  CHECK(failures > 20);
}

TEST_CASE("GpuEvaluator: what fails in the referee is not called the reference's fault") {
  // Copying in is done by the referee alone, to compare.
  Judge judge({}, least());
  const Setting fail("FAIL", plan("hipMemcpyHtoD", 1, 719));
  CHECK_THROWS_WITH_AS((void)judge.own(), doctest::Contains("the referee failed at comparing outputs"),
                       DeviceError);
}

TEST_CASE("GpuEvaluator: a run-time compiler that fails makes a candidate that does not build") {
  for (const char* function :
       {"hiprtcCreateProgram", "hiprtcCompileProgram", "hiprtcGetCodeSize", "hiprtcGetCode",
        "hiprtcGetProgramLogSize", "hiprtcGetProgramLog", "hiprtcAddNameExpression", "hiprtcGetLoweredName",
        "hiprtcVersion", "hiprtcDestroyProgram"}) {
    CAPTURE(function);
    GpuOptions options = least();
    options.builders = 1;
    Judge judge({}, options);
    const std::string code = DeviceProblem{}.kernel + "// " + function + "\n";
    {
      const Setting fail("FAIL", plan(function, 1, 6));
      try {
        const Evaluation e = judge.code(code);
        CHECK((e.verdict == Verdict::build_failed || e.verdict == Verdict::ok));
        CHECK(e.reason.empty() == (e.verdict == Verdict::ok));
      } catch (const ConfigError&) {  // it hit the evaluator's own kernels
      }
    }
    const Evaluation next = judge.code(code + "// again\n");
    CHECK_MESSAGE(next.verdict == Verdict::ok, next.reason);
  }
}
