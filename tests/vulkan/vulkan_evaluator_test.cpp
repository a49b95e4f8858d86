// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The GPU evaluator with Vulkan: the examples, languages and types, limits, and what shaders are refused for.
#include <algorithm>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "vulkan/problems.hpp"
#include "vulkan/support.hpp"

using namespace vulkan_test;

namespace {

/// The default, then for each value of each tunable a configuration that has it where one is drawn.
std::vector<Config> drawn_configs(const Space& space) {
  std::vector<Config> all{space.default_config()};
  Rng rng(11);
  for (std::size_t i = 0; i < space.size(); ++i)
    for (const std::uint32_t value : space.usable(i)) {
      const auto has = [&](const Config& config) { return config.indices[i] == value; };
      for (int tries = 0; tries < 200 && std::none_of(all.begin(), all.end(), has); ++tries)
        if (Config config = space.sample(rng); has(config)) all.push_back(std::move(config));
    }
  return all;
}

}  // namespace

TEST_CASE("examples/vulkan: right at configurations that have every value of every tunable") {
  if (skipped()) return;
  const TemporaryFolder cache;
  for (const char* name : {"matmul_hlsl", "transpose", "reduction", "convolution", "stencil"}) {
    CAPTURE(std::string(name));
    Problem problem = example(name);
    // Small enough for a processor without much time.
    std::erase_if(problem.shapes, [](const Shape& shape) { return shape.weight > 0; });
    REQUIRE(problem.shapes.size() >= 2);
    for (Shape& shape : problem.shapes) shape.weight = 1;
    GpuEvaluator evaluator(problem, quick(cache.path()));
    const auto kernel = std::make_shared<const Kernel>(problem.kernel);
    for (const Config& config : drawn_configs(kernel->space)) {
      const bool fits = std::any_of(problem.shapes.begin(), problem.shapes.end(), [&](const Shape& shape) {
        return is_valid(problem, shape, Candidate{kernel, config});
      });
      if (!fits) continue;
      const Evaluation evaluation = evaluator.evaluate({kernel, config}, {});
      CHECK_MESSAGE(evaluation.verdict == Verdict::ok, kernel->space.key(config), ": ", evaluation.reason);
    }
  }
}

TEST_CASE("Vulkan: features of a shader are what its SPIR-V says") {
  if (skipped()) return;
  const TemporaryFolder cache;
  const Problem problem = axpy();
  GpuEvaluator evaluator(problem, quick(cache.path()));
  const Evaluation evaluation = evaluator.evaluate(with_code(problem, honest_axpy), {});
  REQUIRE_MESSAGE(evaluation.verdict == Verdict::ok, evaluation.reason);
  CHECK(evaluation.features.find("block_threads") == 64.0);
  CHECK(evaluation.features.find("shared_bytes") == 256.0);
  CHECK(!evaluation.features.find("registers").has_value());
  CHECK(!evaluation.features.find("local_bytes").has_value());
  CHECK(!evaluation.features.find("occupancy").has_value());
  CHECK(contains(evaluator.toolchain_id(), "glslang"));
}

TEST_CASE("Vulkan: what does not compile or bind is said in words that name the line or the name") {
  if (skipped()) return;
  const TemporaryFolder cache;
  const Problem problem = axpy();
  GpuEvaluator evaluator(problem, quick(cache.path()));
  const auto refused = [&](std::string code, const std::string& what, const std::string& by) {
    const std::size_t at = code.find(what);
    REQUIRE(at != std::string::npos);
    code.replace(at, what.size(), by);
    return evaluator.evaluate(with_code(problem, code), {});
  };
  Evaluation evaluation = refused(honest_axpy, "x[i]", "z[i]");
  CHECK(evaluation.verdict == Verdict::build_failed);
  CHECK_MESSAGE(contains(evaluation.reason, "device:11: error: 'z' : undeclared identifier"),
                evaluation.reason);
  CHECK(!contains(evaluation.reason, "/tmp"));
  std::string doubled = honest_axpy;
  doubled.replace(doubled.find("= scale;"), 8, "= float(scale);");
  evaluation = refused(doubled, "int n; float scale;", "int n; double scale;");
  CHECK(evaluation.verdict == Verdict::build_failed);
  CHECK_MESSAGE(contains(evaluation.reason, "has 8 bytes, the scalar scale has 4"), evaluation.reason);
  std::string renamed = honest_axpy;
  renamed.replace(renamed.find("x[i]"), 4, "u[i]");
  evaluation = refused(renamed, "buffer X { float x[]; }", "buffer U { float u[]; }");
  CHECK(evaluation.verdict == Verdict::build_failed);
  CHECK_MESSAGE(contains(evaluation.reason, "the buffer U at binding 0 has the name of no array"),
                evaluation.reason);
  evaluation = refused(honest_axpy, "local_size_x = 64", "local_size_x = 32");
  CHECK(evaluation.verdict == Verdict::launch_failed);
  CHECK_MESSAGE(contains(evaluation.reason, "the shader's work groups are 32 x 1 x 1"), evaluation.reason);
  evaluation = refused(honest_axpy, "shared float part[64]", "shared float part[9000000]");
  CHECK(evaluation.verdict == Verdict::launch_failed);
  CHECK_MESSAGE(contains(evaluation.reason, "maxComputeSharedMemorySize"), evaluation.reason);
  evaluation = evaluator.evaluate(with_code(problem, honest_axpy), {});
  CHECK_MESSAGE(evaluation.verdict == Verdict::ok, evaluation.reason);
}

TEST_CASE("Vulkan: arrays of every type are filled, widened and compared") {
  if (skipped()) return;
  const TemporaryFolder cache;
  for (const char* type : {"f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}) {
    CAPTURE(std::string(type));
    const Problem problem = copy_of(type);
    GpuEvaluator evaluator(problem, quick(cache.path()));
    Evaluation evaluation = evaluator.evaluate(problem.default_candidate(), {});
    CHECK_MESSAGE(evaluation.verdict == Verdict::ok, evaluation.reason);
    evaluation = evaluator.evaluate(with_code(problem, wrong_copy(problem)), {});
    CHECK(evaluation.verdict == Verdict::wrong_result);
  }
}
