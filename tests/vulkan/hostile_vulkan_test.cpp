// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Hostile and honest shaders: each gets the verdict that it deserves, and the next candidate is judged
// unharmed. And what no driver does when asked to, by a loader in front of the real one (fault_loader.cpp).
#include <algorithm>
#include <cstdlib>

#include "kernelsearch/core/error.hpp"
#include "vulkan/problems.hpp"
#include "vulkan/support.hpp"

using namespace vulkan_test;

namespace {

/// axpy with a workspace that keeps what a call leaves in it.
Problem with_workspace() {
  return axpy(R"(, {"name": "kept", "type": "f32", "size": "n + 4", "role": "workspace"})");
}

/// The honest shader with `kept`, arrays that may all be read and written, and `body` in place of its work.
std::string shader(const std::string& body) {
  return "#version 450\nlayout(local_size_x = 64) in;\n"
         "layout(binding = 0) buffer X { float x[]; };\nlayout(binding = 1) buffer Y { float y[]; };\n"
         "layout(binding = 2) buffer Kept { float kept[]; };\n"
         "layout(push_constant) uniform Sizes { int n; float scale; };\n"
         "void axpy() {\n  const int i = int(gl_GlobalInvocationID.x);\n" +
         body + "\n}\n";
}

constexpr const char* work = "if (i < n) y[i] = scale * x[i] + 1.0;";

struct HostileShader {
  const char* name;
  std::string body;
  std::vector<Verdict> expected;  ///< any of them
  const char* reason;             ///< part of it, where it says more than the verdict
};

const std::vector<HostileShader>& hostile_shaders() {
  const std::string honest = work;
  static const std::vector<HostileShader> all{
      {"honest", honest, {Verdict::ok}, ""},
      {"does nothing", "", {Verdict::wrong_result}, "unwritten"},
      {"writes half", "if (i < n / 2) y[i] = scale * x[i] + 1.0;", {Verdict::wrong_result}, "unwritten"},
      {"writes all but one",
       "if (i < n - 1) y[i] = scale * x[i] + 1.0;",
       {Verdict::wrong_result},
       "unwritten"},
      {"keeps the poison of odd elements",
       "if (i < n && i % 2 == 0) y[i] = scale * x[i] + 1.0; else if (i < n) y[i] = y[i];",
       {Verdict::wrong_result},
       "unwritten"},
      {"writes NaN", "if (i < n) y[i] = sqrt(-1.0 - x[i] * x[i]);", {Verdict::wrong_result}, ""},
      {"is a constant", "if (i < n) y[i] = 1.0;", {Verdict::wrong_result}, "y["},
      {"writes behind its output",
       honest + " if (i == 0) y[n] = 3.0;",
       {Verdict::cheated},
       "outside of its arrays: y["},
      {"writes far behind its output",
       honest + " if (i == 0) y[n + 900] = 3.0;",
       {Verdict::cheated},
       "outside of its arrays: y["},
      {"writes behind its input",
       honest + " if (i == 0) x[n + 1] = 3.0;",
       {Verdict::cheated},
       "outside of its arrays: x["},
      {"changes its input", honest + " if (i == 0) x[0] = 3.0;", {Verdict::cheated}, "changed its input x"},
      // llvmpipe ends loops after so many rounds, GPUs do not
      {"never ends",
       "for (;;) for (;;) for (;;) kept[i % 4] += 1.0;",
       {Verdict::timed_out, Verdict::wrong_result},
       ""},
      // kept[n] counts calls once kept[n + 1] says that it does: the first ten are right
      {"stops working after ten calls",
       "const bool counts = kept[n + 1] == 42.0;\n  const float calls = counts ? kept[n] : 0.0;\n"
       "  if (i < n && calls < 10.0) y[i] = scale * x[i] + 1.0;\n  barrier();\n"
       "  if (i == n - 1) { kept[n] = calls + 1.0; kept[n + 1] = 42.0; }",
       {Verdict::wrong_result},
       ""},
      // replays what it wrote in its first call
      {"replays its first call",
       "if (i >= n) return;\n  if (kept[n + 1] == 42.0 && kept[n] > 3.0) { y[i] = kept[i]; }\n"
       "  else { y[i] = scale * x[i] + 1.0; kept[i] = y[i]; }\n"
       "  if (i == n - 1) { kept[n] = kept[n + 1] == 42.0 ? kept[n] + 1.0 : 1.0; kept[n + 1] = 42.0; }",
       {Verdict::wrong_result, Verdict::cheated},
       ""},
      // replays where a few elements of its input are those of an earlier call
      {"caches by content",
       "if (i >= n) return;\n  if (kept[n] == x[0] && kept[n + 1] == x[n / 2] && kept[n + 2] == 42.0) y[i] = "
       "kept[i];\n"
       "  else { y[i] = scale * x[i] + 1.0; kept[i] = y[i]; }\n"
       "  if (i == n - 1) { kept[n] = x[0]; kept[n + 1] = x[n / 2]; kept[n + 2] = 42.0; }",
       {Verdict::ok, Verdict::wrong_result},
       ""},
      // undefined by the language: whatever a device makes of it, it harms nobody else
      {"has a barrier in divergent code",
       "if (i % 3 == 0) barrier();\n  " + honest,
       {Verdict::ok, Verdict::wrong_result, Verdict::timed_out, Verdict::crashed},
       ""},
      {"reads and writes out of all bounds",
       honest + " if (i == 0) { kept[1 << 30] = 1.0; y[0] += kept[i - 5] * 0.0; }",
       {Verdict::ok, Verdict::wrong_result, Verdict::crashed, Verdict::cheated},
       ""},
  };
  return all;
}

}  // namespace

TEST_CASE("Vulkan: hostile shaders get the verdict that each deserves, and the next is judged unharmed") {
  if (skipped()) return;
  const TemporaryFolder cache;
  const Problem problem = with_workspace();
  GpuOptions options = quick(cache.path());
  options.limits.call = 2;
  // Several batches, so that there is something to be gained by what an earlier one was told.
  options.sampling = {.precision = 0, .min_samples = 6, .max_samples = 40, .budget_seconds = 10};
  GpuEvaluator evaluator(problem, options);
  EvaluationContext at_once;
  at_once.incumbent = 1e-12;  // a few samples will do
  for (const HostileShader& one : hostile_shaders()) {
    CAPTURE(std::string(one.name));
    const Evaluation evaluation = evaluator.evaluate(with_code(problem, shader(one.body)), {});
    const bool expected =
        std::find(one.expected.begin(), one.expected.end(), evaluation.verdict) != one.expected.end();
    CHECK_MESSAGE(expected, to_string(evaluation.verdict), ": ", evaluation.reason);
    if (evaluation.verdict != Verdict::ok)
      CHECK_MESSAGE(contains(evaluation.reason, one.reason), evaluation.reason);
    const Evaluation next = evaluator.evaluate(with_code(problem, shader(work)), at_once);
    CHECK_MESSAGE(next.verdict == Verdict::ok, to_string(next.verdict), ": ", next.reason);
  }
}

#ifdef KERNELSEARCH_VULKAN_FAULT_LOADER

namespace {

/// The loader in front of the real one, for the processes that are started while this lives.
class FaultLoader {
 public:
  explicit FaultLoader(const char* fault = "") {
    setenv("KERNELSEARCH_VULKAN_LOADER", KERNELSEARCH_VULKAN_FAULT_LOADER, 1);
    setenv("KERNELSEARCH_VULKAN_FAULT", fault, 1);
  }
  ~FaultLoader() {
    unsetenv("KERNELSEARCH_VULKAN_LOADER");
    unsetenv("KERNELSEARCH_VULKAN_FAULT");
  }
  FaultLoader(const FaultLoader&) = delete;
  FaultLoader& operator=(const FaultLoader&) = delete;
};

GpuOptions with_faults(const std::filesystem::path& cache) {
  GpuOptions options = quick(cache);
  options.sandbox = Sandbox::none;  // the loader may be where nobody else can read
  return options;
}

}  // namespace

TEST_CASE("Vulkan: a lost device is a crash of the candidate at hand, and the next has another") {
  if (skipped()) return;
  const FaultLoader loader;
  const TemporaryFolder cache;
  const Problem problem = with_workspace();
  GpuEvaluator evaluator(problem, with_faults(cache.path()));
  Evaluation evaluation = evaluator.evaluate(
      with_code(problem, shader(std::string(work) + " kept[0] = uintBitsToFloat(0x105edeadu);")), {});
  CHECK(evaluation.verdict == Verdict::crashed);
  CHECK_MESSAGE(contains(evaluation.reason, "VK_ERROR_DEVICE_LOST"), evaluation.reason);
  evaluation = evaluator.evaluate(with_code(problem, shader(work)), {});
  CHECK_MESSAGE(evaluation.verdict == Verdict::ok, evaluation.reason);
}

TEST_CASE(
    "Vulkan: each failure of the library in a candidate's process is its verdict, and the next is judged") {
  if (skipped()) return;
  struct Failure {
    const char* fault;
    Verdict verdict;
    const char* reason;
  };
  const Failure failures[] = {
      {"marked:vkCreateDescriptorSetLayout:-2:1", Verdict::launch_failed, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
      {"marked:vkCreateComputePipelines:-1:1", Verdict::launch_failed, "VK_ERROR_OUT_OF_HOST_MEMORY"},
      {"marked:vkCreateComputePipelines:-4:1", Verdict::crashed, "VK_ERROR_DEVICE_LOST"},
      {"marked:vkAllocateDescriptorSets:-2:1+", Verdict::launch_failed, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
      {"marked:vkBeginCommandBuffer:-2:1", Verdict::launch_failed, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
      {"marked:vkEndCommandBuffer:-2:2", Verdict::launch_failed, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
      {"marked:vkQueueSubmit:-4:2", Verdict::crashed, "VK_ERROR_DEVICE_LOST"},
      {"marked:vkWaitForFences:-4:3", Verdict::crashed, "VK_ERROR_DEVICE_LOST"},
      {"marked:vkWaitForFences:hang:3", Verdict::timed_out, ""},
      {"marked:vkResetFences:-13:1", Verdict::crashed, "an error of Vulkan (-13)"},
      {"marked:vkGetQueryPoolResults:-4:1", Verdict::crashed, "VK_ERROR_DEVICE_LOST"},
  };
  const TemporaryFolder cache;
  const Problem problem = with_workspace();
  for (const Failure& one : failures) {
    CAPTURE(std::string(one.fault));
    const FaultLoader loader(one.fault);
    GpuOptions options = with_faults(cache.path());
    options.limits.call = 3;
    GpuEvaluator evaluator(problem, options);
    Evaluation evaluation = evaluator.evaluate(
        with_code(problem, shader(std::string(work) + " kept[0] = uintBitsToFloat(0x00fa17edu);")), {});
    CHECK_MESSAGE(evaluation.verdict == one.verdict, to_string(evaluation.verdict), ": ", evaluation.reason);
    CHECK_MESSAGE(contains(evaluation.reason, one.reason), evaluation.reason);
    evaluation = evaluator.evaluate(with_code(problem, shader(work)), {});
    CHECK_MESSAGE(evaluation.verdict == Verdict::ok, to_string(evaluation.verdict), ": ", evaluation.reason);
  }
}

TEST_CASE("Vulkan: where timestamps run slower than the clock outside, its time counts") {
  if (skipped()) return;
  const FaultLoader loader;
  const TemporaryFolder cache;
  const Problem problem = with_workspace();
  GpuEvaluator evaluator(problem, with_faults(cache.path()));
  // A loop of some milliseconds, which a hundredth of the ticks would make some microseconds.
  const auto slow = [](const char* mark) {
    return shader(
        "float sum = 0.0;\n  for (int k = 0; k < 2000; ++k) sum += sin(x[min(i, n - 1)] + float(k));\n"
        "  if (i < n) { y[i] = scale * x[i] + 1.0; kept[i] = sum; }\n"
        "  kept[n] = uintBitsToFloat(" +
        std::string(mark) + ");");
  };
  const Evaluation honest = evaluator.evaluate(with_code(problem, slow("0x0c10c000u")), {});
  REQUIRE_MESSAGE(honest.verdict == Verdict::ok, honest.reason);
  const Evaluation evaluation = evaluator.evaluate(with_code(problem, slow("0x0c10cbadu")), {});
  const bool caught = evaluation.verdict == Verdict::cheated ||
                      (evaluation.verdict == Verdict::ok &&
                       evaluation.measurement.seconds > 0.2 * honest.measurement.seconds);
  CHECK_MESSAGE(caught, to_string(evaluation.verdict), " ", evaluation.measurement.seconds, " of ",
                honest.measurement.seconds);
}

TEST_CASE(
    "Vulkan: a device whose timestamps disagree with the clock outside is not used, nor one without memory") {
  if (skipped()) return;
  const TemporaryFolder cache;
  const Problem problem = axpy();
  const auto why_not = [&](const char* fault) -> std::string {
    const FaultLoader loader(fault);
    try {
      GpuEvaluator evaluator(problem, with_faults(cache.path()));
      (void)evaluator.evaluate(problem.default_candidate(), {});
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  const std::string clock = why_not("ticks"), memory = why_not("memory");
  CHECK_MESSAGE(contains(clock, "disagree with the clock outside"), clock);
  CHECK_MESSAGE(contains(memory, "VK_ERROR_OUT_OF_DEVICE_MEMORY"), memory);
}

#endif
