// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/gpu_options.hpp"

#include "evaluator/gpu/support.hpp"
#include "kernelsearch/core/error.hpp"

using namespace gpu_test;

TEST_CASE("GpuOptions: left alone they mean the first device, cold caches and limits") {
  const GpuOptions options;
  CHECK(options.devices == std::vector<int>{0});
  CHECK(options.cache == CacheMode::cold);
  CHECK(options.limits.call > 0);
  CHECK(options.limits.build > options.limits.call);
  CHECK(options.sampling.min_samples >= 6);
  CHECK(options.discard_throttled);
}

TEST_CASE("GpuOptions: what cannot be used is said when the evaluator is made") {
  const auto making = [](GpuOptions options, const DeviceProblem& problem = {}) {
    const GpuEvaluator evaluator(problem.parsed(), std::move(options));
  };
  GpuOptions options = quick();
  options.devices = {};
  CHECK_THROWS_AS(making(options), ConfigError);
  options.devices = {7};
  CHECK_THROWS_WITH_AS(making(options), doctest::Contains("there is no hip device 7"), DeviceError);
  options.devices = {-1};
  CHECK_THROWS_AS(making(options), DeviceError);
  options = quick();
  options.worker = "/nowhere/kernelsearch-gpu-worker";
  CHECK_THROWS_AS(making(options), ConfigError);
  {
    const Setting none("DEVICES", "0");
    CHECK_THROWS_AS(making(quick()), DeviceError);
  }
  DeviceProblem many;
  std::string arguments = many.arguments.substr(0, many.arguments.rfind(']'));
  for (int i = 0; i < 62; ++i)
    arguments += R"(, {"name": "s)" + std::to_string(i) + R"(", "type": "i32", "value": 1})";
  many.arguments = arguments + "]";
  CHECK_THROWS_WITH_AS(making(quick(), many), doctest::Contains("too many arguments"), ConfigError);
}

TEST_CASE("GpuOptions: architecture and include folders reach the compiler") {
  DeviceProblem problem;
  problem.kernel = "#include <factor.hpp>\n" + problem.kernel;
  problem.kernel.replace(problem.kernel.find("3 * x"), 1, "FACTOR");
  GpuOptions options = quick();
  options.architecture = "gfx90a";
  const auto folder = scratch() / "include";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "factor.hpp") << "#define FACTOR 3\n";
  Judge without(problem, options);
  const auto missing = without.own();
  CHECK(missing.verdict == Verdict::build_failed);
  CHECK(contains(missing.reason, "factor.hpp"));
  options.include = {folder};
  Judge with(problem, options);
  const auto found = with.own();
  CHECK_MESSAGE(found.verdict == Verdict::ok, found.reason);
}

TEST_CASE("GpuOptions: warm caches, and little memory for buffers, change nothing in the verdicts") {
  GpuOptions options = quick();
  options.cache = CacheMode::warm;
  options.buffer_memory = 1;  // two sets of buffers all the same
  options.check.seeds = 4;
  Judge judge({}, options);
  CHECK(judge.own().verdict == Verdict::ok);
  CHECK(judge.code("extern \"C\" __global__ void scale(int, const float*, float*) {}").verdict ==
        Verdict::wrong_result);
}
