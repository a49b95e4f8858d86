// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PEAK's composition on a host kernel that is really compiled, checked and timed. The replies are written for
// this test; no model made them.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "evaluator/host/support.hpp"
#include "kernelsearch/agents/natural_transformations.hpp"
#include "kernelsearch/agents/workflow.hpp"
#include "kernelsearch/evaluator/validated.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/optimizer/tuned.hpp"
#include "kernelsearch/policy/exhaustive.hpp"
#include "support/scripted_chat.hpp"

using namespace kernelsearch;

namespace {

const std::string plain =
    "extern \"C\" void scale(int n, const float* x, float* y) {\n"
    "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;\n}\n";

// Unrolled by UNROLL with a loop for the rest, as the transformation unroll_loops asks for.
const std::string unrolled =
    "extern \"C\" void scale(int n, const float* x, float* y) {\n"
    "  int i = 0;\n"
    "  for (; i + UNROLL <= n; i += UNROLL)\n"
    "    for (int u = 0; u < UNROLL; ++u) y[i + u] = 3 * x[i + u] + 1;\n"
    "  for (; i < n; ++i) y[i] = 3 * x[i] + 1;\n}\n";

std::string restricted(std::string code) {
  code.replace(code.find("const float* x, float* y"), 24, "const float* __restrict x, float* __restrict y");
  return code;
}

std::string block(const std::string& code) {
  return "```cpp\n" + code + "```";
}

struct NothingMore {
  std::optional<Evaluation> validate(const Candidate&) const { return std::nullopt; }
};

}  // namespace

TEST_CASE(
    "PEAK on a real host kernel: a compile error is fed back, tunables are tuned, checkpoints are right") {
  const Problem problem = parse_problem(support::scale_problem(plain), support::sources);
  // vectorize_loop: first without a semicolon, right once told of it; unroll_loops: right; loop_interchange:
  // a bug that only checking finds, on every try.
  ScriptedChat model([](const ChatRequest& request, std::size_t) {
    const std::string text = ScriptedChat::text_of(request);
    std::string wrong = restricted(unrolled);
    wrong.replace(wrong.find("3 * x[i + u]"), 1, "2");
    if (text.find("# Transformation: Vectorization") != std::string::npos) {
      std::string broken = restricted(plain);
      broken.erase(broken.find("+ 1;") + 3, 1);
      const bool told =
          text.find("build_failed") != std::string::npos && text.find("expected") != std::string::npos;
      return ScriptedChat::says(block(told ? restricted(plain) : broken));
    }
    if (text.find("# Transformation: Unrolling") != std::string::npos)
      return ScriptedChat::says(block(restricted(unrolled)));
    return ScriptedChat::says(block(wrong));
  });
  const auto make = [](const Space& space, std::uint64_t) { return Exhaustive(space); };
  Optimizer search(Workflow({.transformations = {"vectorize_loop", "unroll_loops", "loop_interchange"},
                             .retries = 1,
                             .middle_retries = 0}),
                   NaturalTransformations(
                       problem.kernel, TransformationLibrary(), model,
                       {.backend = Backend::host, .function = "scale", .workload = problem.description}),
                   Tuned(make, Validated<HostEvaluator, Candidate, NothingMore>(
                                   HostEvaluator(problem, support::quick()), {})));
  const RunSummary summary = search.run();
  CAPTURE(summary.reason);
  CheckpointTree& checkpoints = search.policy().checkpoints();
  REQUIRE(checkpoints.find("unroll_loops") != nullptr);
  CHECK(checkpoints.path("unroll_loops") ==
        std::vector<std::string>{"root", "vectorize_loop", "unroll_loops"});
  CHECK(checkpoints.find("loop_interchange") == nullptr);
  CHECK(checkpoints.at("unroll_loops").note == "loop_interchange failed 2 times (not_generated)");
  CHECK(summary.verdicts[static_cast<std::size_t>(Verdict::build_failed)] == 1);
  // The second reply was the first again: its twin is named, and nothing is measured twice.
  CHECK(summary.verdicts[static_cast<std::size_t>(Verdict::wrong_result)] == 1);
  CHECK(summary.verdicts[static_cast<std::size_t>(Verdict::not_generated)] == 1);
  const auto& trials = search.trials();
  REQUIRE(trials.size() == 6);
  CHECK(trials[3].candidate->kernel->space.size() == 1);  // UNROLL: 1, 2, 4 or 8
  CHECK(trials[3].outcome.evaluation.features.find("inner_trials") == 4.0);
  CHECK_FALSE(checkpoints.at("unroll_loops").tuned_key.empty());
}
