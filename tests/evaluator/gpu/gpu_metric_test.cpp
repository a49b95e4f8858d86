// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/support.hpp"

using namespace gpu_test;

namespace {

/// A kernel that says how many rounds it took: `rounds` is what it writes.
std::string saying(const std::string& rounds) {
  return "extern \"C\" __global__ void scale(int n, const float* a, float* o, long long* rounds) {\n"
         "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i < n) o[i] = 2 * a[i] + 1;\n  if (i == 0) " +
         rounds + ";\n}\n";
}

DeviceProblem with_metric() {
  DeviceProblem problem;
  problem.kernel = saying("*rounds = 3 * n");
  problem.reference =
      "extern \"C\" __global__ void scale_reference(int n, const real* a, real* o, long long* rounds) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) o[i] = 2 * a[i] + 1;\n  if (i == 0) *rounds = 0;\n}\n";
  problem.arguments = R"([{"name": "n", "type": "i32"}, {"name": "a", "type": "f32", "size": "n"},
    {"name": "o", "type": "f32", "size": "n", "role": "out"},
    {"name": "rounds", "type": "i64", "size": 1, "role": "out", "check": false}])";
  problem.shapes = R"([{"name": "few", "n": 131}, {"name": "many", "n": 1000, "weight": 2},
    {"name": "odd", "n": 7, "weight": 0}])";
  return problem;
}

}  // namespace

TEST_CASE("GpuEvaluator: an output that is not checked is a feature, over the shapes as times are") {
  Judge judge(with_metric());
  const Evaluation own = judge.own();
  REQUIRE_MESSAGE(own.verdict == Verdict::ok, own.reason);
  CHECK(own.features.find("rounds") == 3 * 131 + 2 * 3 * 1000);
  CHECK(own.features.find("unchecked.rounds") == 1.0);
  CHECK(own.features.find("nondeterministic") == 0.0);
  const Evaluation lie = judge.code(saying("*rounds = 1"));
  REQUIRE_MESSAGE(lie.verdict == Verdict::ok, lie.reason);
  CHECK(lie.features.find("rounds") == 3.0);
  // What differs in every call is no difference in the results.
  const Evaluation clock = judge.code(saying("*rounds = 1 + ((long long)rounds >> 4) % 1000"));
  REQUIRE_MESSAGE(clock.verdict == Verdict::ok, clock.reason);
  CHECK(clock.features.find("nondeterministic") == 0.0);
  const Evaluation silent = judge.code(saying("return"));
  CHECK(silent.verdict == Verdict::wrong_result);
  CHECK_MESSAGE(contains(silent.reason, "rounds"), silent.reason);
}
