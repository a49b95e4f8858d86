// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The CUDA proofs of transformations on a GPU: each is right on every shape of its problem. For what
// fails once in a while, KERNELSEARCH_TEST_PROOF=NAME judges that proof alone and
// KERNELSEARCH_TEST_REPEAT=N each N times, in new processes.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "evaluator/gpu/tool.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_backend.hpp"
#include "support/thorough.hpp"
#include "support/transformation_proofs.hpp"

using namespace kernelsearch;

TEST_CASE("CUDA proofs of transformations are right on every shape") {
  std::vector<proofs::Proof> all = proofs::read_proofs(support::test_data() / "..");
  std::erase_if(all, [](const proofs::Proof& proof) { return proof.problem.backend != Backend::cuda; });
  REQUIRE(all.size() >= 30);
  if (const char* only = std::getenv("KERNELSEARCH_TEST_PROOF")) {
    std::erase_if(all, [&](const proofs::Proof& proof) { return proof.name != only; });
    REQUIRE_MESSAGE(all.size() == 1, "KERNELSEARCH_TEST_PROOF names no CUDA proof: " << only);
  }
  const std::size_t count = all.size() * repeats_asked();
  const TemporaryFolder cache;
  std::vector<Evaluation> results(count);
  std::vector<std::string> faults(count);
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;  // compilers take most of the time
  for (unsigned t = 0; t < std::clamp(std::thread::hardware_concurrency() / 3, 1u, 5u); ++t)
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) try {
          GpuOptions options;
          options.cache_directory = cache.path();
          options.check.seeds = 1;
          options.verification = {.search_seconds = 0, .finalist_seconds = 0.02};
          options.limits.call = 5;
          options.sandbox = Sandbox::none;
          options.sampling = {.precision = 0.05, .min_samples = 3, .max_samples = 6, .budget_seconds = 0.1};
          options.pairs.when = Pairing::never;
          const proofs::Proof& proof = all[i % all.size()];
          GpuEvaluator evaluator(proof.problem, options);
          results[i] = evaluator.evaluate(proof.candidate(), {});
        } catch (const Error& error) {
          faults[i] = error.what();
        }
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < count; ++i) {
    CAPTURE(all[i % all.size()].name);
    CHECK_MESSAGE(faults[i].empty(), faults[i]);
    CHECK_MESSAGE(results[i].verdict == Verdict::ok, to_string(results[i].verdict)
                                                         << ": " << results[i].reason);
  }
}

int main(int argc, char** argv) {
  if (support::nothing_to_test_on()) return support::skipped;
  if (!detail::gpu::find_tool("nvcc", "KERNELSEARCH_NVCC", {}, {})) {
    std::printf("skipped: no nvcc for launch functions\n");
    return support::skipped;
  }
  return doctest::Context(argc, argv).run();
}
