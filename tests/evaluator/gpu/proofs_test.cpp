// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Proofs of transformations as nvcc compiles them; on a device the program test_gpu_proofs runs them.
#include <cstdlib>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/candidate_code.hpp"
#include "evaluator/gpu/support.hpp"
#include "evaluator/gpu/tool.hpp"
#include "support/transformation_proofs.hpp"

TEST_CASE("CUDA proofs of transformations: nvcc takes them") {
  using namespace kernelsearch;
  if (!detail::gpu::find_tool("nvcc", "KERNELSEARCH_NVCC", {}, {})) {
    MESSAGE("skipped: no nvcc");
    return;
  }
  // All of them take minutes: KERNELSEARCH_TEST_PROOFS=all. Else those that the rest of a chain is made of.
  const char* wanted = std::getenv("KERNELSEARCH_TEST_PROOFS");
  const bool all = wanted != nullptr && std::string_view(wanted) == "all";
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
    const bool sample = proof.name == "stream_k" || proof.name == "persistent_f16" || proof.name == "fused_reductions";
    if (proof.problem.backend == Backend::host || (!all && !sample)) continue;
    CAPTURE(proof.name);
    const auto built = detail::gpu::build_candidate(builders, proof.problem, proof.candidate(), device, options);
    CHECK_MESSAGE(built.verdict == Verdict::ok, built.reason);
    CHECK(built.library);
    ++compiled;
  }
  CHECK(compiled >= (all ? 30 : 3));
}
