// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Proofs of transformations as nvcc compiles them; on a device the program test_gpu_proofs runs them.
#include <cstdlib>
#include <set>
#include <string>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/candidate_code.hpp"
#include "evaluator/gpu/support.hpp"
#include "evaluator/gpu/tool.hpp"
#include "support/transformation_proofs.hpp"

namespace {

/// All of them take minutes: KERNELSEARCH_TEST_PROOFS=all. Else those that the rest of a chain is made of.
bool all_wanted() {
  const char* wanted = std::getenv("KERNELSEARCH_TEST_PROOFS");
  return wanted != nullptr && std::string_view(wanted) == "all";
}

}  // namespace

TEST_CASE("CUDA proofs of transformations: nvcc takes them" * doctest::test_suite("thorough")) {
  using namespace kernelsearch;
  if (!detail::gpu::find_tool("nvcc", "KERNELSEARCH_NVCC", {}, {})) {
    MESSAGE("skipped: no nvcc");
    return;
  }
  const bool all = all_wanted();
  GpuOptions options;
  options.sandbox = Sandbox::automatic;
  options.architecture = "sm_90a";
  const TemporaryFolder cache;
  options.cache_directory = cache.path();
  detail::gpu::BuilderPool builders(GpuBackend::cuda, options);
  GpuDevice device;
  device.backend = GpuBackend::cuda;
  std::size_t compiled = 0;
  for (const proofs::Proof& proof : proofs::read_proofs(KERNELSEARCH_SOURCE_DIR)) {
    const bool sample =
        proof.name == "stream_k" || proof.name == "persistent_f16" || proof.name == "fused_reductions";
    if (proof.problem.backend == Backend::host || (!all && !sample)) continue;
    CAPTURE(proof.name);
    const auto built =
        detail::gpu::build_candidate(builders, proof.problem, proof.candidate(), device, options);
    CHECK_MESSAGE(built.verdict == Verdict::ok, built.reason);
    CHECK(built.library);
    ++compiled;
  }
  CHECK(compiled >= (all ? 30 : 3));
}

// What has no assembler is the same in CUDA and HIP but for names, so the stand-in can judge it.
TEST_CASE("proofs of the fp32 chain as HIP: right on the stand-in, edges and odd sizes too" *
          doctest::test_suite("thorough")) {
  using namespace kernelsearch;
  setenv("KERNELSEARCH_HIPCC", KERNELSEARCH_STANDIN_HIPCC, 1);
  const std::filesystem::path root(KERNELSEARCH_SOURCE_DIR), folder = root / "data/transformations/proofs";
  Problem problem = read_problem(root / "examples/matmul_naive_hip.json");
  // Small enough for a processor: one whole tile of 128 by 256 and parts of three; rows that are not aligned.
  std::erase_if(problem.shapes,
                [](const Shape& shape) { return shape.name != "edges" && shape.name != "narrow"; });
  REQUIRE(problem.shapes.size() == 2);
  for (Shape& shape : problem.shapes) {
    shape.weight = 1;
    for (auto& [variable, value] : shape.variables)
      if (shape.name == "edges") value = std::int64_t{variable == "n" ? 132 : variable == "m" ? 260 : 36};
  }
  GpuOptions options = gpu_test::quick();
  options.check.seeds = 1;
  options.limits.call = 60;
  options.sampling = {.precision = 1.0, .min_samples = 1, .max_samples = 1, .budget_seconds = 0.01};
  const auto judged = [&](const Kernel& kernel) {
    Problem one = problem;
    one.kernel = kernel;
    GpuEvaluator evaluator(one, options);
    const Evaluation evaluation =
        evaluator.evaluate({std::make_shared<const Kernel>(kernel), kernel.space.default_config()}, {});
    CHECK_MESSAGE(evaluation.verdict == Verdict::ok, to_string(evaluation.verdict), ": ", evaluation.reason);
  };
  judged(problem.kernel);
  const std::set<std::string> sample{"split_k", "block_swizzle"},
      all{"refactor",         "tb_tiling",     "thread_tiling", "thread_cache", "transpose",
          "offset",           "thread_chunk",  "vector_access", "split_k",      "pipelining",
          "register_staging", "launch_bounds", "warp_tiling",   "block_swizzle"};
  for (const std::string& name : all_wanted() ? all : sample) {
    CAPTURE(name);
    const proofs::Proof proof = proofs::read_proof(root, folder / name);
    Regions regions = proof.problem.kernel.regions;
    for (std::size_t at; (at = regions.host.find("cuda")) != std::string::npos;)
      regions.host.replace(at, 4, "hip");
    judged(kernel_with_declared(problem.kernel.space, std::move(regions), kernel_limits));
  }
}
