// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "evaluator/host/support.hpp"
#include "kernelsearch/generator/source_edits.hpp"

using namespace kernelsearch;

namespace {

/// The edit of that name; an empty text where there is none.
std::string edited(const std::string& source, const std::string& strategy, const std::string& what) {
  for (const SourceEdit& edit : source_edits(source, strategy))
    if (edit.what == what) return edit.source;
  return {};
}

using Steps = std::vector<std::pair<std::string, std::string>>;

Verdict verdict_after(HostEvaluator& evaluator, const Steps& steps) {
  Kernel kernel = evaluator.problem().kernel;
  for (const auto& entry : steps) {
    const auto& strategy = entry.first;  // no structured binding: clang 14 captures none
    const auto& what = entry.second;
    CAPTURE(what);
    kernel.regions.device = edited(kernel.regions.device, strategy, what);
    REQUIRE_FALSE(kernel.regions.device.empty());
  }
  const Config config = kernel.space.default_config();
  const Evaluation evaluation =
      evaluator.evaluate({std::make_shared<const Kernel>(std::move(kernel)), config}, {});
  CAPTURE(evaluation.reason);
  CHECK(evaluation.verdict == Verdict::ok);
  return evaluation.verdict;
}

}  // namespace

TEST_CASE("SourceMoves: rewritten kernels compile and are right on real hardware") {
  HostOptions options = support::quick();
  options.limits.call_seconds = 10;
  HostEvaluator matmul(
      read_problem(std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "examples" / "rewrite_source.json"),
      options);
  const std::pair<std::string, std::string> swap{"interchange", "interchange loops j and p"};
  verdict_after(matmul, {{"unroll", "unroll loop p by 4"}, {"unroll", "unroll loop z by 2"}});
  verdict_after(matmul, {swap, {"vectorize", "vectors of 8 in loop j"}, {"restrict", "restrict in matmul"}});
  verdict_after(matmul, {{"tile", "tile loop i by 8"},
                         {"tile", "tile loop j by 32"},
                         {"interchange", "interchange loops i and j_tile"},
                         {"interchange", "interchange loops j and p"},
                         {"ivdep", "ivdep before loop j"},
                         {"unroll", "unroll loop j by 8"}});
  verdict_after(matmul, {{"align", "align to 16 in matmul"}, {"ivdep", "ivdep before loop z"}});

  // A sum: its outputs tell at once where a term was added twice or forgotten.
  const std::string sum =
      "// function: total\n"
      "extern \"C\" void total(int n, const float* x, float* s) {\n  double t = 0;\n"
      "  // loop: i\n  for (int i = 0; i < n; ++i) t += x[i];\n  *s = (float)t;\n}\n";
  const Problem problem = parse_problem(
      R"({"schema": 1, "name": "sum", "backend": "host", "function": "total",
        "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                      {"name": "s", "type": "f32", "size": 1, "role": "out"}],
        "kernel": {"device": {"text": )" +
          support::quoted(sum) +
          R"(}}, "shapes": [{"name": "some", "n": 5003}, {"name": "one", "n": 1, "weight": 0}],
        "reference": {"source": {"text": "void sum_reference(int n, const real* x, real* s) { real t = 0; for (int i = 0; i < n; ++i) t += x[i]; *s = t; }"},
                      "function": "sum_reference"}})",
      support::sources);
  HostEvaluator reduction(problem, options);
  verdict_after(reduction, {{"accumulators", "4 accumulators in loop i"}});
  verdict_after(reduction, {{"tile", "tile loop i by 128"}, {"accumulators", "8 accumulators in loop i"}});
}
