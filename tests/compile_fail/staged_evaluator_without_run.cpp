// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: evaluator\.run\(
#include "parts.hpp"

using namespace parts;

struct Builder : Eval {
  using Artifact = int;
  Staged<int> build(const int& x, const EvaluationContext&) { return {{}, x}; }
#ifdef MENDED
  Evaluation run(Staged<int>&&, const EvaluationContext&) {
    return Evaluation::succeeded(1.0);
  }
#endif
  std::size_t lanes() const {
    return 1;
  }
};

static_assert(StagedEvaluator<Builder, int>);
