// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The proofs of transformations for host kernels: each is compiled, and right on every shape.
#include <doctest/doctest.h>

#include "evaluator/host/support.hpp"
#include "support/transformation_proofs.hpp"

using namespace kernelsearch;

TEST_CASE("host proofs of transformations are right on every shape") {
  std::size_t judged = 0;
  for (const proofs::Proof& proof : proofs::read_proofs(KERNELSEARCH_SOURCE_DIR)) {
    if (proof.problem.backend != Backend::host) continue;
    CAPTURE(proof.name);
    HostEvaluator evaluator(proof.problem, support::quick());
    const Evaluation evaluation = evaluator.evaluate(proof.candidate(), {});
    CHECK_MESSAGE(evaluation.verdict == Verdict::ok, evaluation.reason);
    ++judged;
  }
  CHECK(judged >= 8);
}
