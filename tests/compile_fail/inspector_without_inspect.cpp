// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: I has no inspect\(artifact\)
#include "kernelsearch/evaluator/code_inspected.hpp"

using namespace kernelsearch;

struct Built {
  using Artifact = int;
  Staged<int> build(int x, const EvaluationContext&) { return {{}, x}; }
  Evaluation run(Staged<int>&& staged, const EvaluationContext&) { return std::move(staged.evaluation); }
  Evaluation evaluate(int x, const EvaluationContext& context) {
    return evaluate_in_stages(*this, x, context);
  }
  std::size_t lanes() const { return 1; }
};

struct Inspector {
#ifdef MENDED
  Features inspect(const int&) {
    return {};
  }
#endif
};

int main() {
  CodeInspected<Built, int, Inspector> inspected({}, {});
  (void)inspected.evaluate(1, {});
}
