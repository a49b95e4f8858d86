// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The problems of examples/hip: right on the stand-in, and taken by the compilers that they are meant for.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "evaluator/gpu/device_source.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "standin/support.hpp"
#include "support/device_examples.hpp"
#include "support/temporary_folder.hpp"

using namespace standin_test;

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> examples() {
  return support::device_examples(fs::path(KERNELSEARCH_SOURCE_DIR) / "examples", "hip");
}

/// The default and `count` others.
std::vector<Candidate> candidates(const Problem& problem, int count) {
  const auto kernel = std::make_shared<const Kernel>(problem.kernel);
  std::vector<Candidate> all{{kernel, problem.kernel.space.default_config()}};
  Rng rng(7);
  for (int i = 0; i < count; ++i) all.push_back({kernel, problem.kernel.space.sample(rng)});
  return all;
}

/// As the evaluator would tell a compiler for this device.
std::vector<std::string> options_for(GpuBackend backend, const char* architecture, const Problem& problem,
                                     const Candidate& candidate) {
  GpuDevice device;
  device.backend = backend;
  GpuOptions options;
  options.architecture = architecture;
  options.include = {fs::path(KERNELSEARCH_SOURCE_DIR) / "include"};
  return compile_options(device, options, candidate_flags(problem, candidate));
}

/// Kernels and references of all examples for a run-time compiler.
void check_compiles(GpuBackend backend, const char* architecture, RuntimeCompiler& compiler, int count) {
  for (const fs::path& example : examples()) {
    CAPTURE(example.string());
    const Problem problem = read_problem(example);
    for (const Candidate& candidate : candidates(problem, count)) {
      const auto options = options_for(backend, architecture, problem, candidate);
      const DeviceCode code =
          compiler.compile(device_source(candidate), options, launched_kernels(problem, candidate));
      CHECK_MESSAGE(code.ok, compiler.identity(), ": ", code.log);
    }
    for (const char* real : {"float", "double"}) {
      const auto options = options_for(backend, architecture, problem, candidates(problem, 0)[0]);
      const DeviceCode code =
          compiler.compile(reference_source(problem, real), options, {problem.reference.function});
      CHECK_MESSAGE(code.ok, compiler.identity(), ": ", code.log);
    }
  }
}

bool runs(const std::string& command) {
  return std::system((command + " > /dev/null 2>&1").c_str()) == 0;
}

/// Compiles the default of every example with a command that ends in a source and `-o` an object.
void check_command_compiles(const std::string& command, const TemporaryFolder& folder) {
  for (const fs::path& example : examples()) {
    const Problem problem = read_problem(example);
    const std::string source = (folder / "kernel.hip").string(), log = (folder / "log").string();
    // Not device_source: its 64-bit integers are a run-time compiler's, those of the system's headers differ.
    std::ofstream(source) << tunable_definitions(problem.kernel, problem.kernel.space.default_config())
                          << problem.kernel.regions.device;
    const bool ok =
        runs("true") &&
        std::system((command + " " + source + " -o " + (folder / "kernel.o").string() + " > " + log + " 2>&1")
                        .c_str()) == 0;
    std::ifstream in(log);
    CHECK_MESSAGE(ok, command, " ", example.string(), "\n",
                  std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()));
  }
}

}  // namespace

TEST_CASE("examples/hip: AMD's run-time compiler takes them") {
  unsetenv("KERNELSEARCH_HIPRTC");
  std::string problem;
  const auto compiler = RuntimeCompiler::load(GpuBackend::hip, problem);
  if (compiler == nullptr) {
    MESSAGE("skipped: ", problem);
    return;
  }
  check_compiles(GpuBackend::hip, "gfx90a", *compiler, 2);
}

TEST_CASE("examples/hip: NVIDIA's run-time compiler takes them") {
  unsetenv("KERNELSEARCH_NVRTC");
  std::string problem;
  const auto compiler = RuntimeCompiler::load(GpuBackend::cuda, problem);
  if (compiler == nullptr) {
    MESSAGE("skipped: ", problem);
    return;
  }
  check_compiles(GpuBackend::cuda, "sm_90", *compiler, 10);
}

TEST_CASE("examples/hip: hipcc takes them, for each of AMD's accelerators that it knows") {
  if (!runs("hipcc --version")) {
    MESSAGE("skipped: no hipcc (Debian's package of that name, or ROCm)");
    return;
  }
  const TemporaryFolder folder;
  const std::string empty = (folder / "empty.hip").string();
  std::ofstream(empty) << "__global__ void nothing() {}\n";
  int known = 0;
  for (const char* architecture : {"gfx90a", "gfx940", "gfx942", "gfx1100"}) {
    const std::string command = std::string("hipcc -c -O2 -std=c++17 --cuda-device-only --offload-arch=") +
                                architecture +
                                " -include hip/hip_runtime.h -I " KERNELSEARCH_SOURCE_DIR "/include";
    if (!runs(command + " " + empty + " -o " + (folder / "empty.o").string())) {
      MESSAGE("skipped: hipcc does not compile for ", std::string(architecture));
      continue;
    }
    ++known;
    check_command_compiles(command, folder);
  }
  CHECK(known > 0);
}

TEST_CASE("examples/hip: nvcc takes them") {
  if (!runs("nvcc --version")) {
    MESSAGE("skipped: no nvcc");
    return;
  }
  const TemporaryFolder folder;
  check_command_compiles("nvcc --ptx -x cu -std=c++17 -arch=sm_80 -I " KERNELSEARCH_SOURCE_DIR "/include",
                         folder);
}

#ifdef KERNELSEARCH_GPU_WORKER

TEST_CASE("examples/hip: every configuration drawn is right, whatever the warp and the order of threads") {
  for (const char* warp : {"64", "32"}) {
    CAPTURE(warp);
    const StandIn standin({{"WARP", warp}, {"ORDER", std::atoi(warp) == 64 ? "forward" : "shuffle"}});
    const TemporaryFolder cache;
    for (const fs::path& example : examples()) {
      CAPTURE(example.string());
      Problem problem = read_problem(example);
      // Its shapes take minutes on a processor; proofs_test runs it on others.
      if (problem.name == "matmul_naive_hip") continue;
      // The shapes that are only checked on devices are small enough to be timed here.
      std::erase_if(problem.shapes,
                    [](const Shape& shape) { return shape.weight > 0 || shape.name == "long"; });
      REQUIRE(problem.shapes.size() >= 2);
      for (Shape& shape : problem.shapes) shape.weight = 1;
      GpuOptions options;
      options.worker = KERNELSEARCH_GPU_WORKER;
      options.sandbox = Sandbox::none;  // the stand-in's headers are where no sandbox sees them
      options.cache_directory = cache.path();
      options.pairs.when = Pairing::never;
      options.check.seeds = 1;
      options.sampling = {.precision = 1.0, .min_samples = 3, .max_samples = 6, .budget_seconds = 0.05};
      GpuEvaluator evaluator(problem, options);
      CHECK(evaluator.device().warp_size == std::atoi(warp));
      for (const Candidate& candidate : candidates(problem, 2)) {
        const Evaluation evaluation = evaluator.evaluate(candidate, {});
        CHECK_MESSAGE(evaluation.verdict == Verdict::ok, candidate.kernel->space.key(candidate.config), ": ",
                      evaluation.reason);
      }
    }
  }
}

#endif
