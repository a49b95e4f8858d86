// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Builders of code for CUDA devices that are not there; with the real compilers, skipped where they are not.
#include "evaluator/gpu/runtime_compiler.hpp"
#include "evaluator/gpu/support.hpp"
#include "evaluator/gpu/tool.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/evaluator/gpu/gpu_code_inspector.hpp"

using namespace gpu_test;

namespace {

constexpr const char* id_of_l4 = "NVIDIA L4 sm_89, driver 13000";
constexpr const char* id_of_h200 = "NVIDIA H200 sm_90, driver 13000";

GpuOptions building_for(const std::string& device) {
  GpuOptions options = quick();
  options.build_for = device;
  return options;
}

DeviceProblem for_cuda() {
  DeviceProblem problem;
  problem.backend = "cuda";
  // Whatever else an image may say of itself: this is compiled for compute capability 8.9 or not at all.
  problem.kernel = "#if __CUDA_ARCH__ != 890\n#error \"for another device\"\n#endif\n" + problem.kernel;
  return problem;
}

bool has_nvrtc() {
  std::string problem;
  if (detail::gpu::RuntimeCompiler::load(GpuBackend::cuda, problem)) return true;
  MESSAGE("skipped: ", problem);
  return false;
}

bool is_elf(const PortableArtifact& artifact) {
  return artifact.code.size() > 64 && artifact.code.starts_with(
                                          "\x7f"
                                          "ELF");
}

}  // namespace

TEST_CASE("cuda_device_of: reads what an identity says, and nothing else") {
  const auto device = cuda_device_of("NVIDIA GB10 (sm_12, driver 3) sm_121, driver 13010");
  REQUIRE(device);
  CHECK(device->name == "NVIDIA GB10 (sm_12, driver 3)");
  CHECK(device->major == 12);
  CHECK(device->minor == 1);
  CHECK(device->driver == 13010);
  for (const char* text :
       {"", "NVIDIA H200", "NVIDIA H200, driver 13000", "NVIDIA H200 sm_90", "NVIDIA H200 sm_9, driver 13000",
        "NVIDIA H200 sm_90a, driver 13000", "NVIDIA H200 sm_090, driver 13000", "H200 sm_90, driver",
        "H200 sm_90, driver 13000 ", "H200 sm_90, driver +3", "H200 sm_-90, driver 1", "H200 sm_00, driver 1",
        "H200 sm_99999999999990, driver 1", "H200sm_90, driver 1", "Stand-in of a GPU, driver 60000000"})
    CHECK_MESSAGE(!cuda_device_of(text), text);
}

TEST_CASE("cuda_device_of: whatever the text, a device that is read has that identity") {
  Rng rng(9);
  const std::string letters = "sm_ 0189,driver\n";
  std::size_t read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = i % 2 == 0 ? id_of_h200 : "a sm_103, driver 7";
    for (std::uint64_t changes = rng.below(3); changes > 0; --changes) {
      const std::size_t at = rng.below(text.size());
      if (rng.below(2) == 0)
        text[at] = letters[rng.below(letters.size())];
      else
        text.erase(at, 1 + rng.below(4));
      if (text.empty()) break;
    }
    if (const auto device = cuda_device_of(text)) {
      ++read;
      CHECK(device->id() == text);
      CHECK(device->backend == GpuBackend::cuda);
    }
  }
  CHECK(read > 1000);
}

TEST_CASE("GpuEvaluator: builds for a device that is not there, and measures nothing") {
  if (!has_nvrtc()) return;
  const Problem problem = for_cuda().parsed();
  GpuEvaluator builder(problem, building_for(id_of_l4));
  CHECK(builder.device_id() == id_of_l4);
  CHECK(builder.device_name() == "NVIDIA L4");
  CHECK(builder.lanes() == 0);
  CHECK(contains(builder.toolchain_id(), "NVRTC"));
  EvaluationContext searching;
  searching.trial = TrialId{3};
  auto staged = builder.build(default_candidate(problem), searching);
  REQUIRE_MESSAGE(staged.artifact, staged.evaluation.reason);
  CHECK(is_elf(builder.carry(*staged.artifact)));
  CHECK(builder.carry(*staged.artifact).functions == std::vector<std::string>{"scale"});
  builder.renew();
  CHECK_THROWS_WITH_AS((void)builder.run(std::move(staged), searching),
                       doctest::Contains("builds for a device that is not here: NVIDIA L4"), ConfigError);
  CHECK_THROWS_WITH_AS((void)builder.compare(default_candidate(problem), default_candidate(problem)),
                       doctest::Contains("builds for a device that is not here"), ConfigError);
  GpuEvaluator other(problem, building_for(id_of_h200));
  const auto refused = other.build(default_candidate(problem), searching);
  CHECK(refused.evaluation.verdict == Verdict::build_failed);
  CHECK_MESSAGE(contains(refused.evaluation.reason, "for another device"), refused.evaluation.reason);
}

TEST_CASE("GpuEvaluator: a compiler that has no code for the device is refused at once, by the reason") {
  if (!has_nvrtc()) return;
  const Problem problem = for_cuda().parsed();
  CHECK_THROWS_WITH_AS(GpuEvaluator(problem, building_for("Tesla K80 sm_37, driver 11040")),
                       doctest::Contains("has no code for the device that measures"), ConfigError);
  CHECK_THROWS_WITH_AS(GpuEvaluator(problem, building_for("Tesla K80 sm_37, driver 11040")),
                       doctest::Contains("Tesla K80 sm_37, driver 11040"), ConfigError);
}

TEST_CASE("GpuEvaluator: nvcc builds a launch function's library for a device that is not there") {
  if (!detail::gpu::find_tool("nvcc", "KERNELSEARCH_NVCC", {}, {})) {
    MESSAGE("skipped: no nvcc");
    return;
  }
  DeviceProblem text = for_cuda();
  text.kernel =
      "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 890\n#error \"for another device\"\n#endif\n" +
      text.kernel.substr(text.kernel.find("extern"));
  text.launch.clear();
  text.function = "host";
  text.host =
      "void host(int n, const float* x, float* y) {\n"
      "  scale<<<(n + 127) / 128, 128>>>(n, x, y);\n"
      "}\n";
  const Problem problem = text.parsed();
  GpuOptions options = building_for(id_of_l4);
  options.sandbox = Sandbox::automatic;
  GpuEvaluator builder(problem, options);
  const auto staged = builder.build(default_candidate(problem), {});
  REQUIRE_MESSAGE(staged.artifact, staged.evaluation.reason);
  CHECK(builder.carry(*staged.artifact).library);
  CHECK(is_elf(builder.carry(*staged.artifact)));
  if (const auto disassembler = detail::gpu::find_disassembler({})) {
    CAPTURE(disassembler->string());
    const Features features = GpuCodeInspector().inspect(*staged.artifact);
    CHECK(features.find("sass.stg_32") == 1);
    CHECK(features.find("sass.fma").value_or(0) >= 1);
    CHECK(features.find("registers").value_or(0) >= 4);
    CHECK(features.find("local_bytes") == 0);
  } else {
    MESSAGE("skipped: no disassembler for what the library has");
  }
  options.build_for = "Tesla K80 sm_37, driver 11040";
  CHECK_THROWS_WITH_AS(GpuEvaluator(problem, options), doctest::Contains("has no code for the device"),
                       ConfigError);
}

TEST_CASE("GpuEvaluator: what cannot be built without its device is refused") {
  const auto refused = [](const DeviceProblem& problem, const char* device, const char* words) {
    CHECK_THROWS_WITH_AS(GpuEvaluator(problem.parsed(), building_for(device)), doctest::Contains(words),
                         ConfigError);
  };
  refused(DeviceProblem{}, id_of_l4, "no compiling without the device for this backend: hip");
  refused(for_cuda(), "Stand-in of a GPU, driver 60000000", "this is not an identity of a CUDA device");
}
